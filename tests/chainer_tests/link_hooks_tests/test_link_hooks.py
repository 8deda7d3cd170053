import io

import numpy
import pytest

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import link_hooks, testing


class Deconvolution(L.Linear):
    """A linear map whose weight has its outputs on the second axis."""

    def __init__(self):
        super().__init__(2, 4)

    def forward(self, x):
        return F.matmul(x, F.reshape(self.W, (4, 2)))


def spectral_norm(link, **kwargs):
    return link.add_hook(link_hooks.SpectralNormalization(**kwargs))


X = numpy.arange(6, dtype='f').reshape(2, 3)


class TestSpectralNormalization:
    def norm_after(self, link, n=50, x=X):
        """Returns the largest singular value that inputs see after some calls."""
        for _ in range(n):
            link(x)
        b = link.b.array
        matrix = link(numpy.eye(x.shape[1], dtype='f')).array - b
        return numpy.linalg.norm(matrix, 2)

    @pytest.mark.parametrize('kwargs,expected', [({}, 1), ({'factor': 2.5}, 2.5)])
    def test_norm(self, kwargs, expected):
        link = spectral_norm(L.Linear(3, 4), **kwargs)
        testing.assert_allclose(self.norm_after(link), expected, rtol=1e-3)

    def test_gamma(self):
        link = L.Linear(3, 4)
        expected = numpy.linalg.norm(link.W.array, 2)
        spectral_norm(link, use_gamma=True)
        assert [name for name, _ in link.namedparams()] == ['/W', '/b', '/gamma']
        testing.assert_allclose(self.norm_after(link), expected, rtol=1e-3)
        link.gamma.array[...] = 2
        testing.assert_allclose(self.norm_after(link), 2, rtol=1e-3)
        link.delete_hook('SpectralNormalization')
        assert [name for name, _ in link.namedparams()] == ['/W', '/b']

    def test_gammas_of_two_weights(self):
        link = L.Linear(3, 4)
        with link.init_scope():
            link.V = chainer.Parameter(numpy.ones((4, 4), 'f'))
        spectral_norm(link, use_gamma=True)
        spectral_norm(link, use_gamma=True, weight_name='V', name='V')
        names = [name for name, _ in link.namedparams()]
        assert names == ['/V', '/V_gamma', '/W', '/b', '/gamma']
        link.delete_hook('V')
        assert [name for name, _ in link.namedparams()] == ['/V', '/W', '/b', '/gamma']

    def test_hook_without_gamma_leaves_gamma_alone(self):
        link = spectral_norm(L.Linear(3, 4))
        with link.init_scope():
            link.gamma = chainer.Parameter(1, ())
        link.delete_hook('SpectralNormalization')
        assert [name for name, _ in link.namedparams()] == ['/W', '/b', '/gamma']

    def test_lazy_weight(self):
        link = spectral_norm(L.Linear(4))
        assert not hasattr(link, 'W_u')
        testing.assert_allclose(self.norm_after(link), 1, rtol=1e-3)

    def test_weight_is_back_after_a_call(self):
        link = spectral_norm(L.Linear(3, 4))
        W = link.W
        link(X)
        assert link.W is W
        with pytest.raises(chainer.utils.type_check.InvalidType):
            link(X[:, :1])
        link(X)
        assert link.W is W

    def test_gradient_reaches_the_parameter(self):
        link = spectral_norm(L.Linear(3, 4))
        link.cleargrads()
        F.sum(link(X)).backward()
        assert link.W.grad is not None
        # The direction of W itself is flat, because the norm is divided out.
        if chainer.config.train:
            for _ in range(50):
                link(X)
        link.cleargrads()
        F.sum(link(X)).backward()
        testing.assert_allclose((link.W.grad * link.W.array).sum(), 0, atol=1e-3)

    def test_vector_moves_only_in_training(self):
        link = spectral_norm(L.Linear(3, 4))
        before = link.W_u.copy()
        with chainer.using_config('train', False):
            link(X)
        numpy.testing.assert_array_equal(link.W_u, before)
        link(X)
        assert (link.W_u != before).any()

    def test_vectors_of_the_last_call(self):
        W = numpy.random.RandomState(0).uniform(-1, 1, (4, 3)).astype('f')
        hook = link_hooks.SpectralNormalization(n_power_iteration=100)
        link = L.Linear(3, 4, initialW=W).add_hook(hook)
        assert not hasattr(hook, 'u') and not hasattr(hook, 'v')
        link(X)
        testing.assert_allclose(hook.u @ W @ hook.v, numpy.linalg.norm(W, 2), rtol=1e-5)
        numpy.testing.assert_array_equal(hook.u, link.W_u)
        with chainer.using_config('train', False):
            link(X)
        testing.assert_allclose(W @ hook.v, numpy.linalg.norm(W, 2) * hook.u, rtol=1e-4, atol=1e-5)

    def test_vector_is_saved(self):
        link, other = spectral_norm(L.Linear(3, 4)), spectral_norm(L.Linear(3, 4))
        f = io.BytesIO()
        chainer.serializers.save_npz(f, link)
        f.seek(0)
        chainer.serializers.load_npz(f, other)
        testing.assert_allclose(link(X).array, other(X).array)

    def test_deleted(self):
        link = spectral_norm(L.Linear(3, 4), use_gamma=True)
        link.delete_hook('SpectralNormalization')
        assert [name for name, _ in link.namedparams()] == ['/W', '/b']
        assert link._persistent == set()

    def test_deconvolution_axis(self):
        hook = link_hooks.SpectralNormalization()
        link = Deconvolution().add_hook(hook)
        assert hook.axis == 1
        assert link.W_u.shape == (2,)
        assert hook.reshape_W(numpy.zeros((4, 2, 3, 3))).shape == (2, 36)


class TestWeightStandardization:
    def test_values(self):
        link = L.Linear(3, 4).add_hook(link_hooks.WeightStandardization(eps=1e-3))
        W = link.W.array.astype('d')
        expected = (W - W.mean(1, keepdims=True)) / numpy.sqrt(W.var(1, keepdims=True) + 1e-3)
        testing.assert_allclose(link(X).array, X @ expected.T, atol=1e-4)
        assert isinstance(link.W, chainer.Parameter)

    def test_deconvolution(self):
        """The statistics are those of the input channels, as in Chainer 7."""
        link = L.Deconvolution2D(2, 3, 2).add_hook(link_hooks.WeightStandardization(eps=1e-3))
        W = link.W.array
        axes = 1, 2, 3
        expected = (W - W.mean(axes, keepdims=True)) / numpy.sqrt(W.var(axes, keepdims=True) + 1e-3)
        x = numpy.random.uniform(-1, 1, (1, 2, 3, 3)).astype('f')
        testing.assert_allclose(link(x).array, F.deconvolution_2d(x, expected).array, atol=1e-4)

    def test_lazy_weight_and_gradient(self):
        link = L.Linear(4).add_hook(link_hooks.WeightStandardization())
        y = link(X)
        link.cleargrads()
        F.sum(y * y).backward()
        testing.assert_allclose(link.W.grad.sum(axis=1), 0, atol=1e-2)


@pytest.mark.parametrize(
    'make', [link_hooks.SpectralNormalization, link_hooks.WeightStandardization]
)
def test_weight_hook_errors(make):
    with pytest.raises(NotImplementedError, match='add_hook'):
        with make():
            pass
    with pytest.raises(ValueError, match="'V' does not exist"):
        L.Linear(3, 4).add_hook(make(weight_name='V'))
    assert make(name='other').name == 'other'


def test_n_power_iteration():
    with pytest.raises(ValueError, match='n_power_iteration'):
        link_hooks.SpectralNormalization(n_power_iteration=0)


class TestTimerHook:
    def test_nested(self):
        model = chainer.Sequential(L.Linear(3, 3), L.Linear(3, 3))
        hook = link_hooks.TimerHook()
        with hook:
            model(X)
            model(X)
        assert [name for name, _ in hook.call_history] == ['Linear', 'Linear', 'Sequential'] * 2
        summary = hook.summary()
        assert summary['Linear']['occurrence'] == 4
        assert summary['Sequential']['occurrence'] == 2
        assert 0 < summary['Linear']['elapsed_time'] < summary['Sequential']['elapsed_time']
        testing.assert_allclose(hook.total_time(), summary['Sequential']['elapsed_time'])

    @pytest.mark.parametrize('unit', ['auto', 'auto_foreach', 'sec', 'ms', 'us', 'ns'])
    def test_print_report(self, unit):
        hook = link_hooks.TimerHook()
        with hook:
            L.Linear(3, 3)(X)
        out = io.StringIO()
        hook.print_report(unit, out)
        header, row = out.getvalue().splitlines()
        assert header.split() == ['LinkName', 'ElapsedTime', 'Occurrence']
        assert row.split()[0] == 'Linear' and row.split()[2] == '1'
        with pytest.raises(KeyError):
            hook.print_report('hours', out)
