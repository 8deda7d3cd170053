"""Strings, sequences, maps and optional values, in both loaders."""

import numpy as np
import pytest

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import any_output, info, model_of  # noqa: E402


def text(*values):
    return np.array(values, object)


WORDS = text('a', 'Bc', '', 'é', 'a', 'z y').reshape(2, 3)
INTS = np.array([2, -1, 7])


def run(loader, nodes, *inputs, outputs=('y',), weights=(), infos=None, opset=21):
    """The outputs of nodes, whose inputs are named x0, x1, ..."""
    names = [f'x{i}' for i in range(len(inputs))]
    infos = infos or [info(n, x.shape, x.dtype) for n, x in zip(names, inputs)]
    model = model_of(nodes, infos, outputs, weights=weights, opset=opset)
    return loader.load(model.SerializeToString())(*inputs)


def node(op, *inputs, output='y', **attributes):
    return helper.make_node(op, list(inputs), [output], **attributes)


MOVES = [
    ('Reshape', [np.array([3, -1])], {}, WORDS.reshape(3, 2)),
    ('Transpose', [], {'perm': [1, 0]}, WORDS.T),
    ('Flatten', [], {'axis': 2}, WORDS.reshape(6, 1)),
    ('Identity', [], {}, WORDS),
    ('Slice', [np.array([1]), np.array([9]), np.array([1])], {}, WORDS[:, 1:]),
    ('Squeeze', [], {}, WORDS),
    ('Unsqueeze', [np.array([0])], {}, WORDS[None]),
    ('Expand', [np.array([2, 1, 1])], {}, np.broadcast_to(WORDS, (2, 2, 3))),
    ('Tile', [np.array([1, 2])], {}, np.tile(WORDS, (1, 2))),
    ('Gather', [np.array([[1, 0]])], {'axis': 1}, WORDS[:, [[1, 0]]]),
    ('GatherElements', [np.array([[2, 0]])], {'axis': 1}, WORDS[:1, [2, 0]]),
    ('GatherND', [np.array([[1, 2]])], {}, text('z y')),
    ('Compress', [np.array([False, True])], {'axis': 0}, WORDS[1:]),
    ('Concat', [WORDS[:, :1]], {'axis': 1}, np.concatenate([WORDS, WORDS[:, :1]], 1)),
    ('ScatterND', [np.array([[0]]), WORDS[1:]], {}, WORDS[[1, 1]]),
    ('Shape', [], {}, np.array([2, 3])),
    ('Size', [], {}, np.array(6)),
    ('Equal', [text('a')], {}, WORDS == 'a'),
    ('StringConcat', [text('1', '2', '3')], {}, WORDS + text('1', '2', '3')),
]  # fmt: skip


@pytest.mark.parametrize('op,others,attributes,expected', MOVES, ids=[m[0] for m in MOVES])
@pytest.mark.parametrize('is_constant', [False, True])
def test_operators_move_and_compare_strings(loader, op, others, attributes, expected, is_constant):
    names = [f'x{i}' for i in range(1 + len(others))]
    values = dict(zip(names, [WORDS, *others]))
    if is_constant:
        (y,) = run(loader, [node(op, *names, **attributes)], weights=values)
    else:
        (y,) = run(loader, [node(op, *names, **attributes)], *values.values())
    assert y.dtype == (object if expected.dtype.kind == 'O' else expected.dtype)
    assert y.shape == expected.shape
    assert y.tolist() == expected.tolist()


def test_where_of_strings(loader):
    condition = np.array([True, False, True])
    (y,) = run(loader, [node('Where', 'x0', 'x1', 'x2')], condition, WORDS[0], text('-'))
    assert y.tolist() == ['a', '-', '']


def test_split_of_strings(loader):
    nodes = [helper.make_node('Split', ['x0', 'x1'], ['a', 'b'], axis=1)]
    a, b = run(loader, nodes, WORDS, np.array([1, 2]), outputs=('a', 'b'))
    assert (a.tolist(), b.tolist()) == (WORDS[:, :1].tolist(), WORDS[:, 1:].tolist())


@pytest.mark.parametrize('shape', [(), (0,), (2, 0)])
def test_shapes_of_few_strings(loader, shape):
    x = np.full(shape, 'é', object)
    (y,) = run(loader, [node('StringConcat', 'x0', 'x0')], x)
    assert (y.shape, y.tolist()) == (shape, (x + x).tolist() if shape else 'éé')


@pytest.mark.parametrize(
    'dtype,values,expected',
    [
        ('float32', [1, 0.1, -2.5e-7, 1e20, np.inf, np.nan, 0], None),
        ('float64', [1, 0.1, 123456.75, 1e-5, 1e16, -np.inf], None),
        ('float16', [1, 0.5], ['1.0', '0.5']),
        ('int8', [-128, 127], ['-128', '127']),
        ('uint64', [2**64 - 1], ['18446744073709551615']),
        ('int64', [-(2**63)], ['-9223372036854775808']),
        ('bool', [True, False], ['True', 'False']),
    ],
)
def test_casts_to_strings_and_back(loader, dtype, values, expected):
    x = np.array(values, dtype)
    (y,) = run(loader, [node('Cast', 'x0', to=TensorProto.STRING)], x)
    assert y.tolist() == (expected or [str(each) for each in x])
    if dtype.startswith('float'):
        to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        (z,) = run(loader, [node('Cast', 'x0', to=to)], y)
        np.testing.assert_array_equal(z, x)


def test_strings_that_are_no_numbers(loader):
    for bad in 'one', '', ' ', '1 2', '0x1':
        with pytest.raises(loader.error, match='Cast'):
            run(loader, [node('Cast', 'x0', to=TensorProto.FLOAT)], text(bad))
    (y,) = run(loader, [node('Cast', 'x0', to=TensorProto.INT32)], text(' +12 ', '-3.0'))
    assert y.tolist() == [12, -3]


def test_constants_of_strings(loader):
    tensor = helper.make_tensor('t', TensorProto.STRING, [1, 2], ['a', 'é'])
    for attributes, expected in (
        ({'value': tensor}, [['a', 'é']]),
        ({'value_string': 'x'}, 'x'),
        ({'value_strings': ['x', 'y']}, ['x', 'y']),
    ):
        (y,) = run(loader, [node('Constant', **attributes)])
        assert y.tolist() == expected


def test_operators_of_numbers_refuse_strings(loader):
    for op in 'Relu', 'Neg':
        with pytest.raises(loader.error, match=op):
            run(loader, [node(op, 'x0')], WORDS)
    with pytest.raises(loader.error, match='Add'):
        run(loader, [node('Add', 'x0', 'x1')], np.ones((2, 3), 'f'), WORDS)
    with pytest.raises(loader.error, match='StringConcat'):
        run(loader, [node('StringConcat', 'x0', 'x1')], WORDS, text('1', '2'))


def test_inputs_have_to_be_what_the_file_says(loader):
    with pytest.raises(loader.error, match="'x0'"):
        run(
            loader,
            [node('Identity', 'x0')],
            np.ones((2, 3), 'f'),
            infos=[info('x0', (2, 3), object)],
        )
    with pytest.raises(loader.error, match="'x0' has the shape"):
        run(loader, [node('Identity', 'x0')], WORDS, infos=[info('x0', (3, 3), object)])


# -- sequences -----------------------------------------------------------------------------------

SEQUENCE = [np.ones(2, 'f'), np.zeros((1, 3), 'f'), np.full(2, 5, 'f')]


def sequence_info(name, is_optional=False):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    return helper.make_value_info(
        name, helper.make_optional_type_proto(kind) if is_optional else kind
    )


def same(actual, expected):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        np.testing.assert_array_equal(a, e)


@pytest.mark.parametrize('position', [None, 0, 2, -1, 3])
def test_insert_and_erase(loader, position):
    infos = [sequence_info('x0'), info('x1', None), info('x2', (), np.int64)]
    value = np.array([9], 'f')
    names = ['x0', 'x1'] + ([] if position is None else ['x2'])
    inputs = [SEQUENCE, value, np.array(position or 0)]
    (y,) = run(loader, [node('SequenceInsert', *names)], *inputs, infos=infos)
    expected = list(SEQUENCE)
    expected.insert(len(expected) if position is None else position, value)
    same(y, expected)
    names = ['x0'] + ([] if position is None else ['x2'])
    if position == 3:
        with pytest.raises(loader.error, match='SequenceErase'):
            run(loader, [node('SequenceErase', *names)], *inputs, infos=infos)
        return
    (y,) = run(loader, [node('SequenceErase', *names)], *inputs, infos=infos)
    expected = list(SEQUENCE)
    del expected[-1 if position is None else position]
    same(y, expected)


def test_sequences_in_loops(loader):
    """A loop collects strings, and ConcatFromSequence joins them."""
    body = helper.make_graph(
        [
            helper.make_node('StringConcat', ['word', 'word'], ['next']),
            helper.make_node('SequenceInsert', ['list', 'next'], ['list_out']),
            helper.make_node('Identity', ['on'], ['on_out']),
        ],
        'body',
        [
            info('i', (), np.int64),
            info('on', (), bool),
            info('word', None, object),
            any_output('list'),
        ],
        [any_output(n) for n in ('on_out', 'next', 'list_out')],
    )
    nodes = [
        helper.make_node('SequenceEmpty', [], ['empty'], dtype=TensorProto.STRING),
        helper.make_node('Loop', ['n', '', 'x0', 'empty'], ['last', 'list'], body=body),
        helper.make_node('ConcatFromSequence', ['list'], ['y'], axis=0),
        helper.make_node('SequenceLength', ['list'], ['length']),
        helper.make_node('SequenceAt', ['list', 'n_minus'], ['at']),
    ]
    weights = {'n': np.array(3), 'n_minus': np.array(-2)}
    y, length, at = run(loader, nodes, text('ab'), outputs=('y', 'length', 'at'), weights=weights)
    assert y.tolist() == ['ab' * 2, 'ab' * 4, 'ab' * 8]
    assert (int(length), at.tolist()) == (3, ['ab' * 4])


def test_parts_of_strings(loader):
    nodes = [node('SplitToSequence', 'x0', axis=1, keepdims=0)]
    (y,) = run(loader, nodes, WORDS)
    assert [each.tolist() for each in y] == WORDS.T.tolist()


def test_optional_values(loader):
    infos = [sequence_info('x0', is_optional=True)]
    nodes = [node('OptionalHasElement', 'x0', output='has'), node('OptionalGetElement', 'x0')]
    (has,) = run(loader, nodes[:1], None, outputs=['has'], infos=infos)
    assert not has
    has, y = run(loader, nodes, SEQUENCE, outputs=['has', 'y'], infos=infos)
    assert has
    same(y, SEQUENCE)
    with pytest.raises(loader.error, match='OptionalGetElement'):
        run(loader, nodes, None, outputs=['has', 'y'], infos=infos)


def test_sequences_hold_no_sequences(loader):
    nodes = [node('SequenceConstruct', 'x0', output='list'), node('SequenceConstruct', 'list')]
    with pytest.raises(loader.error, match='SequenceConstruct'):
        run(loader, nodes, SEQUENCE[0])


# -- maps ----------------------------------------------------------------------------------------


def map_info(name, key, value):
    proto = onnx.TypeProto()
    proto.map_type.key_type = key
    proto.map_type.value_type.tensor_type.elem_type = value
    return helper.make_value_info(name, proto)


@pytest.mark.parametrize(
    'op,attributes,x,expected',
    [
        ('DictVectorizer', {'string_vocabulary': ['a', 'c', 'b']}, {'a': 4.0, 'b': 8.0}, np.array([[4, 0, 8]], 'f')),
        ('DictVectorizer', {'int64_vocabulary': [5, 7]}, {7: 3}, np.array([[0, 3]])),
        ('DictVectorizer', {'int64_vocabulary': [5, 7]}, {7: 'x'}, text('', 'x').reshape(1, 2)),
        ('CastMap', {}, {3: 2.5, 1: 1.5}, np.array([[1.5, 2.5]], 'f')),
        ('CastMap', {'cast_to': 'TO_INT64'}, {3: 2.5, 1: 1.5}, np.array([[1, 2]])),
        ('CastMap', {'cast_to': 'TO_STRING', 'map_form': 'SPARSE', 'max_map': 3}, {1: 1.5}, text('', '1.500000', '').reshape(1, 3)),
    ],
)  # fmt: skip
def test_maps(loader, op, attributes, x, expected):
    key = TensorProto.STRING if isinstance(next(iter(x)), str) else TensorProto.INT64
    value = {float: TensorProto.FLOAT, int: TensorProto.INT64, str: TensorProto.STRING}
    infos = [map_info('x0', key, value[type(next(iter(x.values())))])]
    made = helper.make_node(op, ['x0'], ['y'], domain='ai.onnx.ml', **attributes)
    model = model_of([made], infos, ['y'], domains=[('ai.onnx.ml', 1)])
    (y,) = loader.load(model.SerializeToString())(x)
    assert (y.shape, y.dtype, y.tolist()) == (expected.shape, expected.dtype, expected.tolist())


def test_rows_of_maps(loader):
    zipped = helper.make_node(
        'ZipMap', ['x0'], ['maps'], domain='ai.onnx.ml', classlabels_strings=['b', 'a']
    )
    back = helper.make_node(
        'DictVectorizer', ['maps'], ['y'], domain='ai.onnx.ml', string_vocabulary=['a', 'b']
    )
    x = np.array([[1, 2], [3, 4]], 'f')
    model = model_of(
        [zipped, back], [info('x0', (2, 2))], ['maps', 'y'], domains=[('ai.onnx.ml', 1)]
    )
    maps, y = loader.load(model.SerializeToString())(x)
    assert maps == [{'b': 1.0, 'a': 2.0}, {'b': 3.0, 'a': 4.0}]
    assert y.tolist() == [[2, 1], [4, 3]]


@pytest.mark.parametrize('x', [{0: 1.0}, {7: 1.0}, {-1: 1.0}])
def test_keys_of_sparse_maps(loader, x):
    made = helper.make_node(
        'CastMap', ['x0'], ['y'], domain='ai.onnx.ml', map_form='SPARSE', max_map=2
    )
    model = model_of(
        [made],
        [map_info('x0', TensorProto.INT64, TensorProto.FLOAT)],
        ['y'],
        domains=[('ai.onnx.ml', 1)],
    )
    loaded = loader.load(model.SerializeToString())
    if 0 in x:
        assert loaded(x)[0].tolist() == [[1, 0]]
    else:
        with pytest.raises(loader.error, match='CastMap'):
            loaded(x)


def test_damaged_strings(loader):
    """A file whose strings do not fit to their shape, or are in other data."""
    for change in ({'dims': [3]}, {'raw_data': b'ab'}):
        tensor = numpy_helper.from_array(text('a', 'b'), 'w')
        if 'dims' in change:
            tensor.dims[:] = change['dims']
        else:
            tensor.raw_data = change['raw_data']
        model = model_of([node('Identity', 'w')], [], ['y'])
        model.graph.initializer.append(tensor)
        with pytest.raises(loader.error):
            loader.load(model.SerializeToString())()
