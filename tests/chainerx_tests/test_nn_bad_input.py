"""Wrong arguments and empty batches of the routines that test_nn_ops.py tests the values of."""

import pytest

import chainerx

pytestmark = pytest.mark.skipif(not chainerx.is_available(), reason='ChainerX is not built')


def _zeros(*shape, dtype='float32'):
    return chainerx.zeros(shape, dtype)


@pytest.mark.parametrize(
    ('error', 'match', 'call'),
    [
        (
            chainerx.DimensionError,
            'channels',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 3, 1)),
        ),
        (
            chainerx.DimensionError,
            'number of dimensions',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1, 1)),
        ),
        (
            chainerx.DimensionError,
            'b has shape',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1), _zeros(3)),
        ),
        (chainerx.DimensionError, 'empty', lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 4))),
        (
            chainerx.DimensionError,
            'stride',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1), stride=0),
        ),
        (
            chainerx.DimensionError,
            'pad must be between',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1), pad=2**62),
        ),
        (
            chainerx.DimensionError,
            'pad has 2 elements',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1), pad=(1, 1)),
        ),
        (
            chainerx.DimensionError,
            'groups',
            lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(3, 1, 1), groups=2),
        ),
        (
            chainerx.DtypeError,
            'bool',
            lambda: chainerx.conv(_zeros(1, 2, 3, dtype='bool'), _zeros(4, 2, 1, dtype='bool')),
        ),
        (TypeError, 'stride', lambda: chainerx.conv(_zeros(1, 2, 3), _zeros(4, 2, 1), stride='1')),
        (
            chainerx.DimensionError,
            'outsize',
            lambda: chainerx.conv_transpose(_zeros(1, 2, 3), _zeros(2, 2, 3), outsize=(9,)),
        ),
        (
            chainerx.DimensionError,
            'channels',
            lambda: chainerx.conv_transpose(_zeros(1, 2, 3), _zeros(3, 2, 3)),
        ),
        (chainerx.DimensionError, 'x must have', lambda: chainerx.max_pool(_zeros(1, 2), 2)),
        (chainerx.DimensionError, 'ksize', lambda: chainerx.max_pool(_zeros(1, 2, 3), 0)),
        (
            chainerx.DtypeError,
            'floating',
            lambda: chainerx.max_pool(_zeros(1, 2, 3, dtype='int8'), 2),
        ),
        (chainerx.DimensionError, 'empty', lambda: chainerx.average_pool(_zeros(1, 2, 3), 4)),
        (
            ValueError,
            'pad_mode',
            lambda: chainerx.average_pool(_zeros(1, 2, 3), 2, pad_mode='edge'),
        ),
        (
            chainerx.DimensionError,
            'gamma',
            lambda: chainerx.batch_norm(_zeros(2, 3), _zeros(2), _zeros(2), _zeros(2), _zeros(2)),
        ),
        (
            chainerx.DimensionError,
            'running_var',
            lambda: chainerx.batch_norm(_zeros(2, 3), _zeros(3), _zeros(3), _zeros(3), _zeros(2)),
        ),
        (
            chainerx.DtypeError,
            'x must',
            lambda: chainerx.batch_norm(
                _zeros(2, 3, dtype='int32'), _zeros(3), _zeros(3), _zeros(3), _zeros(3)
            ),
        ),
        (
            chainerx.DimensionError,
            'axis',
            lambda: chainerx.fixed_batch_norm(_zeros(2, 3), *[_zeros(3)] * 4, axis=5),
        ),
        (
            chainerx.DimensionError,
            'var',
            lambda: chainerx.fixed_batch_norm(_zeros(2, 3), *[_zeros(3)] * 3, _zeros(2)),
        ),
        (
            chainerx.DimensionError,
            'gamma',
            lambda: chainerx.layer_norm(_zeros(2, 3), _zeros(2), _zeros(2)),
        ),
        (
            chainerx.DimensionError,
            'groups',
            lambda: chainerx.group_norm(_zeros(2, 3), 2, _zeros(3), _zeros(3)),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.lstm(_zeros(2, 3), _zeros(2, 9)),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.lstm(_zeros(2, 3), _zeros(3, 12)),
        ),
        (
            chainerx.DtypeError,
            'one floating',
            lambda: chainerx.lstm(_zeros(2, 3), _zeros(2, 12, dtype='float64')),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.slstm(_zeros(2, 3), _zeros(2, 2), _zeros(2, 12), _zeros(2, 12)),
        ),
        (
            chainerx.DtypeError,
            'c_prev2',
            lambda: chainerx.slstm(
                _zeros(2, 3),
                _zeros(2, 3, dtype='float64'),
                _zeros(2, 12),
                _zeros(2, 12, dtype='float64'),
            ),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.tree_lstm(_zeros(2, 3), _zeros(2, 2), _zeros(2, 15)),
        ),
        (
            chainerx.DtypeError,
            'floating',
            lambda: chainerx.tree_lstm(_zeros(2, 3, dtype='int32'), _zeros(2, 12, dtype='int32')),
        ),
        (chainerx.ChainerxError, 'at least 2', lambda: chainerx.tree_lstm(_zeros(2, 3))),
        (TypeError, 'keyword', lambda: chainerx.tree_lstm(_zeros(2, 3), x=_zeros(2, 12))),
        (
            chainerx.DimensionError,
            'hx',
            lambda: chainerx.n_step_rnn(1, _zeros(2, 1, 2), [[]], [[]], [_zeros(1, 2)]),
        ),
        (
            chainerx.DimensionError,
            'must have 2 arrays',
            lambda: chainerx.n_step_rnn(1, _zeros(1, 1, 2), [[]], [[]], [_zeros(1, 2)]),
        ),
        (
            chainerx.DimensionError,
            'element of xs',
            lambda: chainerx.n_step_rnn(
                1, _zeros(1, 2, 2), [[]], [[]], [_zeros(1, 2), _zeros(2, 2)]
            ),
        ),
        (
            chainerx.DimensionError,
            'element of xs',
            lambda: chainerx.n_step_rnn(1, _zeros(1, 2, 2), [[]], [[]], [_zeros()]),
        ),
        (
            chainerx.ChainerxError,
            'activation',
            lambda: chainerx.n_step_rnn(1, _zeros(1, 1, 2), [[]], [[]], [_zeros(1, 2)], 'selu'),
        ),
        (
            chainerx.ChainerxError,
            'time step',
            lambda: chainerx.n_step_gru(1, _zeros(1, 1, 2), [[]], [[]], []),
        ),
        (
            IndexError,
            'label 3 is out of range for 3',
            lambda: chainerx.softmax_cross_entropy(_zeros(2, 3), chainerx.array([0, 3])),
        ),
        (
            IndexError,
            'label -1 is out of range',
            lambda: chainerx.softmax_cross_entropy(
                _zeros(2, 3), chainerx.array([0, -1]), ignore_label=0
            ),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.softmax_cross_entropy(_zeros(2, 3, 4), chainerx.array([0, 1])),
        ),
        (
            chainerx.DtypeError,
            'integer',
            lambda: chainerx.softmax_cross_entropy(_zeros(2, 3), _zeros(2)),
        ),
        (
            chainerx.DtypeError,
            'floating',
            lambda: chainerx.softmax_cross_entropy(
                _zeros(2, 3, dtype='int32'), chainerx.array([0, 1])
            ),
        ),
        (
            chainerx.DimensionError,
            'class_weight',
            lambda: chainerx.softmax_cross_entropy(
                _zeros(2, 3), chainerx.array([0, 1]), class_weight=_zeros(2)
            ),
        ),
        (
            chainerx.ChainerxError,
            'reduce',
            lambda: chainerx.softmax_cross_entropy(
                _zeros(2, 3), chainerx.array([0, 1]), reduce='max'
            ),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.scaled_dot_product_attention(_zeros(2, 3), _zeros(2, 4), _zeros(2, 3)),
        ),
        (
            chainerx.DimensionError,
            'do not match',
            lambda: chainerx.scaled_dot_product_attention(_zeros(2, 3), _zeros(2, 3), _zeros(4, 3)),
        ),
        (
            chainerx.DimensionError,
            'q must have',
            lambda: chainerx.scaled_dot_product_attention(_zeros(3), _zeros(2, 3), _zeros(2, 3)),
        ),
        (
            chainerx.DimensionError,
            'broadcast',
            lambda: chainerx.scaled_dot_product_attention(*[_zeros(2, 3)] * 3, _zeros(3, 2)),
        ),
        (
            chainerx.DtypeError,
            'k must',
            lambda: chainerx.scaled_dot_product_attention(
                _zeros(2, 3), _zeros(2, 3, dtype='int32'), _zeros(2, 3)
            ),
        ),
        (
            chainerx.DtypeError,
            'mask must',
            lambda: chainerx.scaled_dot_product_attention(
                *[_zeros(2, 3)] * 3, _zeros(2, 2, dtype='int32')
            ),
        ),
        (
            TypeError,
            'scale',
            lambda: chainerx.scaled_dot_product_attention(*[_zeros(2, 3)] * 3, scale='1'),
        ),
        (chainerx.DimensionError, 'axis', lambda: chainerx.sort(_zeros(2), 1)),
        (chainerx.DimensionError, 'dimensions', lambda: chainerx.argsort(_zeros())),
        (chainerx.DtypeError, 'integer', lambda: chainerx.embed_id(_zeros(2), _zeros(2, 2))),
        (IndexError, 'out of', lambda: chainerx.embed_id(chainerx.array([2]), _zeros(2, 2))),
    ],
)
def test_bad_input(error, match, call):
    with pytest.raises(error, match=match):
        call()
        chainerx.get_default_device().synchronize()  # a GPU may find errors in data later


@pytest.mark.parametrize(
    ('call', 'shape'),
    [
        (lambda: chainerx.sort(_zeros(0, 2)), (0, 2)),
        (lambda: chainerx.lstm(_zeros(0, 2), _zeros(0, 8))[0], (0, 2)),
        (lambda: chainerx.conv(_zeros(0, 2, 3), _zeros(4, 2, 2)), (0, 4, 2)),
        (lambda: chainerx.max_pool(_zeros(0, 2, 4), 2), (0, 2, 2)),
        (lambda: chainerx.batch_norm(_zeros(0, 2), *[_zeros(2)] * 4), (0, 2)),
        (lambda: chainerx.layer_norm(_zeros(0, 2), *[_zeros(2)] * 2), (0, 2)),
        (lambda: chainerx.softmax(_zeros(0, 3)), (0, 3)),
        (
            lambda: chainerx.softmax_cross_entropy(_zeros(0, 3, 2), _zeros(0, 2, dtype='int32')),
            (0, 2),
        ),
        (lambda: chainerx.slstm(*[_zeros(0, 2)] * 2, *[_zeros(0, 8)] * 2)[1], (0, 2)),
        (lambda: chainerx.tree_lstm(_zeros(0, 2), _zeros(0, 8))[0], (0, 2)),
        (
            lambda: chainerx.n_step_gru(
                1, _zeros(1, 0, 2), [[_zeros(2, 2)] * 6], [[_zeros(2)] * 6], [_zeros(0, 2)]
            )[1][0],
            (0, 2),
        ),
        (lambda: chainerx.scaled_dot_product_attention(*[_zeros(0, 3, 2)] * 3), (0, 3, 2)),
        (lambda: chainerx.scaled_dot_product_attention(*[_zeros(0, 2)] * 3), (0, 2)),
    ],
)
def test_empty_batch(call, shape):
    assert call().shape == shape
