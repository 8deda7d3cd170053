import copy
import pickle

import numpy
import pytest

import chainer
from chainer import testing


class Pair(chainer.Chain):
    """Two links, a parameter of its own and persistent values."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.b_link = chainer.Link(W=(2, 3))
            self.a_link = chainer.Link(V=2)
            self.own = chainer.Parameter(1.5, (2,))
        self.add_persistent('count', 3)
        self.add_persistent('mean', numpy.arange(2, dtype='f'))

    def forward(self, x, y=1):
        return x + y


def fill(link):
    for index, param in enumerate(link.params(False)):
        param.array[...] = index + 1
        param.grad = numpy.full(param.shape, index, param.dtype)


class TestRegistration:
    def test_only_in_init_scope(self):
        link = chainer.Link()
        link.x = chainer.Parameter(0, (1,))
        assert not link.within_init_scope
        with link.init_scope():
            assert link.within_init_scope
            link.y = chainer.Parameter(0, (1,))
            link.z = 3
        assert list(link.namedparams()) == [('/y', link.y)]
        assert link.y.name == 'y'

    def test_init_scope_nests(self):
        link = chainer.Link()
        with link.init_scope():
            with link.init_scope():
                pass
            assert link.within_init_scope

    def test_init_scope_ends_on_error(self):
        link = chainer.Link()
        with pytest.raises(ZeroDivisionError):
            with link.init_scope():
                1 / 0
        assert not link.within_init_scope

    def test_without_init(self):
        class Forgetful(chainer.Link):
            def __init__(self):
                with self.init_scope():
                    self.W = chainer.Parameter(0, (1,))

        with pytest.raises(RuntimeError, match='__init__'):
            Forgetful()

    @pytest.mark.parametrize(
        'spec,shape,dtype',
        [(3, (3,), 'f'), ((2, 3), (2, 3), 'f'), (((2,), 'd'), (2,), 'd'), ((2, 'e'), (2,), 'e')],
    )
    def test_keyword_parameters(self, spec, shape, dtype):
        link = chainer.Link(W=spec)
        assert link.W.shape == shape
        assert link.W.dtype == dtype
        assert numpy.isnan(link.W.array).all()

    def test_add_param(self):
        link = chainer.Link()
        link.add_param('W', (2,), initializer=3)
        link.add_param('V')
        testing.assert_allclose(link.W.array, [3, 3])
        assert not link.V.is_initialized
        with pytest.raises(AttributeError, match='W'):
            link.add_param('W', (2,))

    def test_persistent(self):
        link = chainer.Link()
        link.add_persistent('a', 1)
        link.b = 2
        link.register_persistent('b')
        assert link._persistent == {'a', 'b'}
        with pytest.raises(AttributeError, match='exists'):
            link.add_persistent('b', 2)
        with pytest.raises(AttributeError, match='non-existent'):
            link.register_persistent('c')

    def test_parameter_can_become_persistent(self):
        link = chainer.Link(W=2)
        link.register_persistent('W')
        assert list(link.params()) == []

    def test_delete(self):
        chain = Pair()
        del chain.own, chain.a_link, chain.count
        assert [name for name, _ in chain.namedparams()] == ['/b_link/W']
        assert chain._persistent == {'mean'}

    def test_chain_refuses(self):
        chain = Pair()
        with pytest.raises(AttributeError, match='a_link'):
            chain.add_link('a_link', chainer.Link())
        with pytest.raises(TypeError, match='non-link'):
            chain.add_link('x', 3)
        with pytest.raises(AttributeError, match='a_link'):
            with chain.init_scope():
                chain.a_link = chainer.Link()

    def test_chain_replaces_outside_of_scope(self):
        chain = Pair()
        chain.a_link = link = chainer.Link(U=1)
        assert chain['a_link'] is link
        assert [name for name, _ in chain.namedparams()] == ['/own', '/a_link/U', '/b_link/W']


class TestWalks:
    def test_order_and_names(self):
        chain = Pair()
        names = ['/own', '/a_link/V', '/b_link/W']
        assert [name for name, _ in chain.namedparams()] == names
        assert [p.name for p in chain.params()] == ['own', 'V', 'W']
        assert list(chain.children()) == [chain.a_link, chain.b_link]
        assert list(chain.links()) == [chain, chain.a_link, chain.b_link]
        assert list(chain.links(skipself=True)) == [chain.a_link, chain.b_link]

    def test_namedlinks(self):
        outer = chainer.Chain(pair=Pair(), lst=chainer.ChainList(chainer.Link()))
        assert [name for name, _ in outer.namedlinks()] == [
            '/',
            '/lst',
            '/lst/0',
            '/pair',
            '/pair/a_link',
            '/pair/b_link',
        ]
        assert next(outer.namedlinks(skipself=True))[0] == '/lst'

    def test_uninitialized(self):
        chain = Pair()
        chain.add_param('late')
        assert len(list(chain.params())) == 4
        assert len(list(chain.params(include_uninit=False))) == 3
        assert '/late' not in dict(chain.namedparams(False))
        with pytest.warns(UserWarning, match='late'):
            assert chain.count_params() == 10

    def test_count_params(self):
        assert Pair().count_params() == 10


class TestGradients:
    def test_cleargrads(self):
        chain = Pair()
        fill(chain)
        chain.cleargrads()
        assert [p.grad for p in chain.params()] == [None] * 3

    def test_device_id(self):
        with pytest.warns(DeprecationWarning, match='_device_id'):
            device_id = chainer.Link()._device_id
        assert device_id is None
        with chainer.backends.cuda.get_device_from_id(device_id):
            pass

    def test_zerograds(self):
        chain = Pair()
        with pytest.warns(DeprecationWarning):
            chain.zerograds()
        assert all((p.grad == 0).all() for p in chain.params())

    def test_addgrads(self):
        a, b = Pair(), Pair()
        fill(a)
        fill(b)
        a.addgrads(b)
        for x, y in zip(a.params(), b.params()):
            testing.assert_allclose(x.grad, 2 * y.grad)

    def test_update_enabled(self):
        chain = Pair()
        assert not chain.update_enabled
        chainer.optimizers.SGD().setup(chain)
        assert chain.update_enabled
        chain.disable_update()
        assert not chain.update_enabled
        chain.a_link.enable_update()
        assert chain.update_enabled
        assert not chain.b_link.update_enabled


class TestCopy:
    def test_share(self):
        chain = Pair()
        fill(chain)
        chain.name = 'name'
        ret = chain.copy()
        assert ret.name is None
        assert ret.a_link.name == 'a_link'
        for p, q in zip(chain.params(), ret.params()):
            assert p is not q
            assert p.array is q.array
            assert q.grad is None and p.grad is not None
        with ret.init_scope():
            ret.more = chainer.Parameter(0, (1,))
        ret.add_link('sub', chainer.Link())
        assert len(list(chain.params())) == 3
        assert len(list(chain.children())) == 2

    def test_copy(self):
        chain = Pair()
        fill(chain)
        ret = chain.copy('copy')
        for p, q in zip(chain.params(), ret.params()):
            assert p.array is not q.array
            testing.assert_allclose(p.array, q.array)
        assert ret.mean is not chain.mean

    def test_init(self):
        chain = Pair()
        fill(chain)
        ret = chain.copy('init')
        testing.assert_allclose(ret.own.array, [1.5, 1.5])
        testing.assert_allclose(chain.own.array, [1, 1])

    @pytest.mark.parametrize(
        'method', [lambda link: link.copy('other'), lambda link: link.repeat(1, 'other')]
    )
    def test_unknown_mode(self, method):
        with pytest.raises(ValueError, match='mode'):
            method(Pair())

    def test_copyparams(self):
        a, b = Pair(), Pair()
        fill(a)
        a.mean[...] = 5
        a.count = 7
        mean = b.mean
        b.copyparams(a)
        for p, q in zip(a.params(), b.params()):
            testing.assert_allclose(p.array, q.array)
        assert b.mean is mean
        testing.assert_allclose(b.mean, [5, 5])
        assert b.count == 7

    def test_copyparams_without_persistent(self):
        a, b = Pair(), Pair()
        a.count = 7
        fill(a)
        b.copyparams(a, copy_persistent=False)
        assert b.count == 3

    @pytest.mark.parametrize(
        'convert', [copy.deepcopy, lambda link: pickle.loads(pickle.dumps(link))]
    )
    def test_deepcopy_and_pickle(self, convert):
        chain = Pair()
        fill(chain)
        ret = convert(chain)
        assert dict(ret.namedparams()).keys() == dict(chain.namedparams()).keys()
        for p, q in zip(chain.params(), ret.params()):
            testing.assert_allclose(p.array, q.array)
            testing.assert_allclose(p.grad, q.grad)

    def test_repeat(self):
        link = chainer.links.Linear(3, 3)
        repeated = link.repeat(2)
        assert isinstance(repeated, chainer.Sequential)
        assert (repeated[0].W.array != repeated[1].W.array).any()
        assert link.repeat(2, 'share')[0].W.array is link.W.array
        testing.assert_allclose(link.repeat(2, 'copy')[1].W.array, link.W.array)
        assert len(link.repeat(0)) == 0

    def test_from_params(self):
        with pytest.raises(NotImplementedError):
            chainer.Link.from_params()


class TestCall:
    def test_forward(self):
        assert Pair()(1, y=2) == 3

    def test_without_init(self):
        class Forgetful(chainer.Link):
            def __init__(self):
                pass

            def forward(self, x):
                return x

        with pytest.raises(RuntimeError, match='has not been called'):
            Forgetful()(1)

    def test_no_forward(self):
        with pytest.raises(AttributeError, match='forward'):
            chainer.Link()(1)

    def test_call_of_mixin(self):
        class Mixin:
            def __call__(self, x):
                return 'mixin', x

        class Before(Mixin, chainer.Link):
            pass

        class After(chainer.Chain, Mixin):
            def forward(self, x):
                raise AssertionError('the mixin goes first')

        assert Before()(1) == After()(1) == ('mixin', 1)
        timer = chainer.link_hooks.TimerHook()
        with timer:
            After()(1)
        assert [name for name, _ in timer.call_history] == ['After']


class TestText:
    def test_str(self):
        assert str(chainer.Link(W=1)) == 'Link()'
        assert str(chainer.Chain()) == 'Chain()'
        assert str(chainer.ChainList()) == 'ChainList()'
        outer = chainer.Chain(lst=chainer.ChainList(chainer.links.Linear(3, 2)))
        assert str(outer) == (
            'Chain(\n'
            '  (lst): ChainList(\n'
            '    (0): Linear(in_size=3, out_size=2, nobias=False),\n'
            '  ),\n'
            ')'
        )


class TestSerialize:
    def test_keys(self):
        target = chainer.serializers.npz.serialize(Pair())
        assert sorted(target) == ['a_link/V', 'b_link/W', 'count', 'mean', 'own']

    def test_uninitialized(self):
        link = chainer.Link()
        link.add_param('W')
        target = chainer.serializers.npz.serialize(link)
        assert target['W'][()] is None
        chainer.serializers.NpzDeserializer(target).load(link)
        assert not link.W.is_initialized
        target['W'] = numpy.arange(3, dtype='d')
        chainer.serializers.NpzDeserializer(target).load(link)
        testing.assert_allclose(link.W.array, [0, 1, 2])
        assert link.W.dtype == numpy.float32

    def test_persistent_none(self):
        link = chainer.Link()
        link.add_persistent('x', None)
        chainer.serializers.NpzDeserializer({'x': numpy.arange(2)}).load(link)
        testing.assert_allclose(link.x, [0, 1])


class TestDevices:
    def test_visits_everything(self):
        class Visitor(chainer.device_resident.DeviceResidentsVisitor):
            def __init__(self):
                self.seen = []

            def visit_device_resident(self, resident):
                self.seen.append(resident)

            def visit_array(self, array):
                return array * 2

            def visit_variable(self, param):
                self.seen.append(param)

        chain = Pair()
        visitor = Visitor()
        chain.device_resident_accept(visitor)
        expected = [chain, chain.own, chain.a_link, chain.a_link.V, chain.b_link, chain.b_link.W]
        assert list(map(id, visitor.seen)) == list(map(id, expected))
        testing.assert_allclose(chain.mean, [0, 2])
        assert chain.count == 3

    def test_to_cpu(self):
        chain = Pair()
        with pytest.warns(DeprecationWarning, match='to_cpu is deprecated'):
            assert chain.to_cpu() is chain
        assert chain.xp is numpy
        assert chain.device == chainer.get_device('@numpy')


class TestChainList:
    def setup_method(self):
        self.links = [chainer.Link(W=i + 1) for i in range(3)]
        self.lst = chainer.ChainList(*self.links)

    def check(self, *indices):
        assert list(self.lst) == [self.links[i] for i in indices]
        assert [link.name for link in self.lst] == [str(i) for i in range(len(indices))]

    def test_init(self):
        self.check(0, 1, 2)
        assert [name for name, _ in self.lst.namedparams()] == ['/0/W', '/1/W', '/2/W']
        assert len(self.lst) == 3

    def test_getitem(self):
        assert self.lst[-1] is self.links[2]
        assert self.lst[1:] == self.links[1:]

    def test_insert(self):
        self.links.append(chainer.Link())
        self.lst.insert(1, self.links[3])
        self.check(0, 3, 1, 2)

    def test_delete(self):
        del self.lst[0]
        self.check(1, 2)

    def test_setitem(self):
        self.links.append(chainer.Link())
        self.lst[-1] = self.links[3]
        self.check(0, 1, 3)

    def test_setitem_slice(self):
        self.lst[:2] = [self.links[1]]
        self.check(1, 2)

    def test_list_methods(self):
        self.lst.reverse()
        self.check(2, 1, 0)
        assert self.lst.pop() is self.links[0]
        self.lst.extend([self.links[0]])
        self.check(2, 1, 0)
        assert self.lst.index(self.links[1]) == 1

    def test_refuses(self):
        for method in (
            self.lst.append,
            self.lst.add_link,
            lambda x: self.lst.insert(0, x),
            lambda x: self.lst.__setitem__(0, x),
        ):
            with pytest.raises(TypeError, match='non-link'):
                method(3)
        with pytest.raises(TypeError, match='init_scope'):
            with self.lst.init_scope():
                self.lst.x = chainer.Link()
        self.check(0, 1, 2)

    def test_copy(self):
        ret = self.lst.copy()
        ret.append(chainer.Link())
        self.check(0, 1, 2)
        assert ret[0].W is not self.lst[0].W
        assert ret[0].W.array is self.lst[0].W.array

    def test_own_parameter(self):
        with self.lst.init_scope():
            self.lst.p = chainer.Parameter(0, (1,))
        assert next(self.lst.namedparams())[0] == '/p'
