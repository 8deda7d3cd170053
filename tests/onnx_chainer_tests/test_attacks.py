"""Known attacks by model files, each by its name, on both loaders.

Each file is refused by an error of the loader, or it is harmless. None reads what is outside of
the model's folder, ends the program, or takes memory and time that its size does not explain.
"""

import contextlib
import os
import random
import threading
import time

import numpy as np
import pytest

import chainerx

onnx = pytest.importorskip('onnx')
from onnx import TensorProto, helper  # noqa: E402
from onnx_chainer_tests.helpers_of_import import (  # noqa: E402
    info,
    model_of,
    node_model,
    numpy_helper,
)

X = np.ones((2, 3), 'f')
SECRET = np.full((2, 3), 7, 'f')


def node(op, inputs=('x',), outputs=('y',), **attributes):
    return helper.make_node(op, inputs, outputs, name='culprit', **attributes)


def refuses(loader, source, message):
    if not isinstance(source, (bytes, str, os.PathLike)):
        source = source.SerializeToString()
    with pytest.raises(loader.error, match=message):
        loader.load(source)


@contextlib.contextmanager
def within(seconds):
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < seconds


def _varint(n):
    out = b''
    while n > 127:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def _field(number, data):
    return _varint(8 * number + 2) + _varint(len(data)) + data


# -- files beside the model ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """The folder of a model, beside which a file must stay secret."""
    inner = tmp_path / 'folder'
    (inner / 'deeper').mkdir(parents=True)
    (tmp_path / 'secret').write_bytes(SECRET.tobytes())
    (inner / 'data').write_bytes(X.tobytes())
    (inner / 'deeper' / 'data').write_bytes(X.tobytes())
    return inner


def external(entries, shape=X.shape, data_type=TensorProto.FLOAT):
    tensor = TensorProto(name='w', dims=shape, data_type=data_type)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def path_of(folder, tensor, place='initializer'):
    """A file that has the tensor in one of the places where tensors are."""
    model = model_of([node('Add', ['x', 'w'])], [info('x')], ['y'])
    if place == 'initializer':
        model.graph.initializer.append(tensor)
    elif place == 'sparse initializer':
        sparse = onnx.SparseTensorProto(values=tensor, dims=X.shape)
        sparse.indices.CopyFrom(numpy_helper.from_array(np.arange(6)))
        del sparse.values.dims[:]
        sparse.values.dims.append(6)
        model.graph.sparse_initializer.append(sparse)
    elif place == 'attribute':
        model.graph.node.insert(0, helper.make_node('Constant', [], ['w'], 'culprit', value=tensor))
    elif place == 'branch':
        constant = helper.make_node('Constant', [], ['v'], 'culprit', value=tensor)
        branch = helper.make_graph([constant], 'branch', [], [info('v')])
        on = helper.make_node('Constant', [], ['on'], value=numpy_helper.from_array(np.array(True)))
        choice = helper.make_node('If', ['on'], ['w'], then_branch=branch, else_branch=branch)
        model.graph.node.insert(0, choice)
        model.graph.node.insert(0, on)
    path = folder / 'model.onnx'
    path.write_bytes(model.SerializeToString())
    return path


PLACES = 'initializer', 'sparse initializer', 'attribute', 'branch'


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('location', ['data', './data', 'deeper//data'])
def test_data_in_the_folder(loader, folder, place, location):
    """What is allowed, so that the errors below are not of something else."""
    run = loader.load(path_of(folder, external({'location': location}), place))
    np.testing.assert_array_equal(run(X)[0], 2 * X)


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize(
    'location', ['../secret', 'deeper/../../secret', './../secret', '..', '../folder/data']
)
def test_path_traversal(loader, folder, place, location):
    path = path_of(folder, external({'location': location}), place)
    refuses(loader, path, 'outside of the folder of the model')


def test_absolute_path(loader, folder):
    for location in '/etc/hostname', str(folder / 'data'), '//data':
        path = path_of(folder, external({'location': location}))
        refuses(loader, path, 'outside of the folder of the model')


@pytest.mark.parametrize(
    'location',
    [
        *('~/.bashrc', '$HOME/.bashrc', 'file:///etc/hostname', 'http://localhost/', '..\\secret'),
        *('.', 'deeper', 'deeper/', 'data/data', 'pipe'),
    ],
)
def test_locations_of_another_kind(loader, folder, location):
    """They are names of files that are not there, of folders, and of a pipe that nobody opens."""
    os.mkfifo(folder / 'pipe')
    refuses(
        loader, path_of(folder, external({'location': location})), 'not a file beside the model'
    )


def test_null_byte_in_a_location(loader, folder):
    path = path_of(folder, external({'location': 'data\0/../../secret'}))
    refuses(loader, path, "^tensor 'w': its data is in 'data")


@pytest.mark.parametrize('place', PLACES)
@pytest.mark.parametrize('target', ['../secret', 'data'])
def test_symbolic_link(loader, folder, place, target):
    (folder / 'link').symlink_to(target)
    path = path_of(folder, external({'location': 'link'}), place)
    refuses(loader, path, 'not a file beside the model .links do not count')


def test_symbolic_link_to_a_folder(loader, folder):
    (folder / 'up').symlink_to('..', target_is_directory=True)
    (folder / 'here').symlink_to('.', target_is_directory=True)
    for location in 'up/secret', 'here/data':
        path = path_of(folder, external({'location': location}))
        refuses(loader, path, 'not a file beside the model .links do not count')


@pytest.mark.parametrize('place', PLACES)
def test_hard_link(loader, folder, place):
    """CVE-2026-34446: a second name of a file outside is in the folder."""
    os.link(folder.parent / 'secret', folder / 'link')
    path = path_of(folder, external({'location': 'link'}), place)
    refuses(loader, path, 'a file of 2 names, which may be outside of the folder')


def test_swap_after_the_check(loader, folder):
    """The name leads to another file between the check and the reading, again and again."""
    path = path_of(folder, external({'location': 'deeper/swapped'}))
    place = folder / 'deeper' / 'swapped'
    os.link(folder.parent / 'secret', folder.parent / 'hard')
    done = threading.Event()

    def swap():
        new = folder / 'new'
        while not done.is_set():
            kind = random.randrange(3)
            if kind == 0:
                new.write_bytes(X.tobytes())
            elif kind == 1:
                new.symlink_to(folder.parent / 'secret')
            else:
                os.link(folder.parent / 'hard', new)
            os.replace(new, place)
            new.unlink(missing_ok=True)  # both were names of one file

    thread = threading.Thread(target=swap)
    thread.start()
    results = errors = 0
    try:
        end = time.monotonic() + 0.7
        while time.monotonic() < end:
            try:
                (y,) = loader.load(path)(X)
            except loader.error:
                errors += 1
            else:
                np.testing.assert_array_equal(y, 2 * X)
                results += 1
    finally:
        done.set()
        thread.join()
    assert results
    assert errors


@pytest.mark.parametrize(
    ('entries', 'message'),
    [
        ({'offset': -4}, "its offset is '-4'|which has 24 bytes"),
        ({'offset': 4}, 'which has 24 bytes'),
        ({'offset': 2**63}, "its offset is '9223372036854775808'|which has 24 bytes"),
        ({'offset': 2**64 - 24}, 'offset is|which has 24 bytes'),
        ({'offset': 'x'}, "its offset is 'x'|ValueError"),
        ({'length': -24}, "its length is '-24'|its data has -24 bytes"),
        ({'length': 20}, 'its data has 20 bytes, and 24 belong to its shape'),
        ({'length': 2**64 + 24}, 'its length is|its data has'),
    ],
)
def test_offset_and_length(loader, folder, entries, message):
    path = path_of(folder, external({'location': 'data', **entries}))
    refuses(loader, path, message)


def test_external_data_of_a_model_in_memory(loader, folder):
    data = path_of(folder, external({'location': 'data'})).read_bytes()
    refuses(loader, data, "in 'data', and a model in memory has no folder")


@pytest.mark.parametrize('place', ['begin', 'middle', 'end', 'none'])
def test_holes_of_a_file(loader, folder, place):
    """What is no hole is read, wherever it is."""
    n = 3 * 4096 * 4
    expected = np.zeros(n, 'f')
    with open(folder / 'sparse', 'wb') as file:
        file.truncate(4 * n + 12)
        for at in {'begin': [0, 5], 'middle': [n // 2 - 1], 'end': [n - 1], 'none': []}[place]:
            expected[at] = at + 1
            file.seek(12 + 4 * at)
            file.write(expected[at : at + 1].tobytes())
    tensor = external({'location': 'sparse', 'offset': 12}, shape=(n,))
    for _ in range(2):  # memory that was used before, too
        (y,) = loader.load(path_of(folder, tensor))(np.ones(1, 'f'))
        np.testing.assert_array_equal(y, expected + 1)


def test_sparse_file_of_eight_gigabytes(loader, folder):
    """It takes no time and, until it is used, no memory."""
    with open(folder / 'sparse', 'wb') as file:
        file.truncate(2**33)
    path = path_of(folder, external({'location': 'sparse'}, shape=(2**31,)))
    with within(5), contextlib.suppress(loader.error, MemoryError):  # a machine may have less
        loader.load(path)


def test_sparse_model_of_eight_gigabytes(loader, folder):
    head = path_of(folder, numpy_helper.from_array(X, 'w')).read_bytes()
    # One more initializer, of 2**31 numbers that are a hole.
    tensor = b'\x08\x80\x80\x80\x80\x08\x10\x01\x42\x01\x76\x4a' + _varint(2**33)
    graph = b'\x2a' + _varint(len(tensor) + 2**33) + tensor
    with open(folder / 'model.onnx', 'wb') as file:
        file.write(head + b'\x3a' + _varint(len(graph) + 2**33) + graph)
        file.truncate(file.tell() + 2**33)
    with within(5):
        refuses(loader, folder / 'model.onnx', 'no ONNX model: it has more than 2 GiB')


# -- tensors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'dims': [2, 4]}, r'it has 24 bytes, and 32 belong to its shape \(2, 4\)'),
        ({'dims': [2, -3]}, 'has a negative dimension'),
        ({'dims': [2**40, 2**40]}, 'this machine has|overflows'),
        ({'dims': [2**32, 2**32, 6]}, 'this machine has|overflows'),
        ({'dims': [2**31]}, 'it has 24 bytes|this machine has'),
        ({'dims': [1] * 70}, 'dimensions|it has 24 bytes'),
        ({'data_type': 99}, 'there is no element type 99'),
        ({'raw_data': b''}, 'it has 0 bytes, and 24 belong'),
        ({'raw_data': bytes(2000)}, 'it has 2000 bytes, and 24 belong'),
    ],
)
def test_dimensions_that_do_not_fit_the_data(loader, folder, fields, message):
    tensor = numpy_helper.from_array(X, 'w')
    for name in fields:
        tensor.ClearField(name)
    tensor.MergeFrom(TensorProto(**fields))
    refuses(loader, path_of(folder, tensor), "^tensor 'w': .*(" + message + ')')


@pytest.mark.parametrize('indices', [[0, 9], [-1, 0], [0], [[0, 0], [2, 0]], [0, 2**62]])
def test_sparse_indices_out_of_bounds(loader, indices):
    values = numpy_helper.from_array(np.ones(2, 'f'), 'w')
    indices = np.array(indices)
    dims = [6] if indices.ndim == 1 else [2, 3]
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(indices), dims)
    model = model_of([node('Add', ['x', 'w'])], [info('x')], ['y'])
    model.graph.sparse_initializer.append(sparse)
    refuses(loader, model, "sparse tensor 'w'")


# -- graphs --------------------------------------------------------------------------------------


def function(name, *nodes):
    imports = [helper.make_opsetid('', 18), helper.make_opsetid('mine', 1)]
    return helper.make_function('mine', name, ['x'], ['y'], nodes, imports)


def call(name, x='x', y='y'):
    return helper.make_node(name, [x], [y], domain='mine', name='culprit')


def graph_of(*nodes, outputs=('y',), **keywords):
    return model_of(nodes, [info('x', X.shape)], outputs, **keywords)


MINE = {'domains': [('mine', 1)]}


def test_cycle(loader):
    cycle = [node('Add', ['x', 'b'], ['a']), helper.make_node('Relu', ['a'], ['b'])]
    refuses(loader, graph_of(*cycle, outputs=['a']), 'culprit.*cycle')
    refuses(loader, graph_of(node('Add', ['x', 'y'])), 'culprit.*cycle')


def test_function_that_calls_itself_or_is_there_twice(loader):
    one = graph_of(call('f'), functions=[function('f', call('f'))], **MINE)
    two = graph_of(
        call('f'), functions=[function('f', call('g')), function('g', call('f'))], **MINE
    )
    for model in one, two:
        refuses(loader, model, 'calls itself')
    same = [function('f', helper.make_node('Relu', ['x'], ['y']))] * 2
    refuses(loader, graph_of(call('f'), functions=same, **MINE), "'f' is defined twice")


def test_functions_that_double(loader):
    """Each of 40 functions calls the next twice, which would be 2**40 nodes."""
    functions = [
        function(f'f{i}', call(f'f{i + 1}', 'x', 'a'), call(f'f{i + 1}', 'a', 'y'))
        for i in range(40)
    ]
    functions.append(function('f40', helper.make_node('Relu', ['x'], ['y'])))
    with within(60):
        refuses(
            loader, graph_of(call('f0'), functions=functions, **MINE), 'more than 1000000 nodes'
        )


@pytest.mark.parametrize('depth', [40, 200, 5000])
def test_graphs_deep_inside_of_each_other(loader, depth):
    """No reader goes as deep as the file says."""
    graph = b''
    for _ in range(depth):
        branch = _field(1, b'then_branch') + _field(6, graph) + b'\xa0\x01\x05'
        graph = _field(1, _field(1, b'x') + _field(2, b'y') + _field(4, b'If') + _field(5, branch))
    model = b'\x08\x08' + _field(7, graph) + _field(8, b'\x10\x12')
    refuses(loader, model, 'no ONNX model|operator|input')


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (lambda g: g.input.append(g.input[0]), "two inputs 'x'"),
        (lambda g: g.initializer.extend([g.initializer[0]] * 2), "two initializers 'w'"),
        (lambda g: g.node.append(g.node[0]), "'y' is there already"),
        (lambda g: g.node.append(node('Relu', outputs=['x'])), "'x' is there already"),
        (lambda g: g.node.append(node('Relu', outputs=['w'])), "'w' is there already"),
        (lambda g: g.node.append(node('Split', ['x'], ['a', 'a'])), "'a' is there already"),
        (lambda g: g.node[0].attribute.extend([helper.make_attribute('a', 1)] * 2), 'two attributes'),
    ],
    ids=['input', 'initializer', 'node', 'output-input', 'output-weight', 'outputs', 'attribute'],
)  # fmt: skip
def test_names_twice(loader, change, message):
    model = graph_of(node('Add', ['x', 'w']), weights={'w': X})
    change(model.graph)
    refuses(loader, model, message)


@pytest.mark.parametrize(
    'name',
    [
        'forward',
        '__class__',
        '__init__',
        'params',
        '_plan',
        'a.b/c:d',
        '../x',
        '',
        'é',
        'x' * 10000,
    ],
)
def test_names_that_mean_something(loader, name):
    """Names in a file are only names."""
    model = graph_of(node('Add', ['x', 'w']), weights={'w': X})
    model.graph.initializer[0].name = model.graph.node[0].input[1] = name
    if not name:
        refuses(loader, model, 'no name|missing')
        return
    np.testing.assert_array_equal(loader.load(model.SerializeToString())(X)[0], 2 * X)


# -- sizes that only running shows ---------------------------------------------------------------

HUGE = np.array([2**31, 2**31])


@pytest.mark.parametrize(
    ('op', 'inputs', 'attributes'),
    [
        ('ConstantOfShape', [HUGE], {}),
        ('Expand', [np.ones((1, 1), 'f'), HUGE], {}),
        ('Pad', [X, np.array([0, 0, 2**31, 2**31])], {}),
        ('Range', [np.array(0), np.array(2**62), np.array(1)], {}),
        ('Conv', [np.ones((1, 1, 4, 4), 'f'), np.ones((1, 1, 3, 3), 'f')], {'pads': [2**31 - 1] * 4}),
        ('ConvTranspose', [np.ones((1, 1, 4, 4), 'f'), np.ones((1, 1, 3, 3), 'f')], {'strides': [2**31 - 1] * 2}),
        ('ConvTranspose', [np.ones((1, 1, 4, 4), 'f'), np.ones((1, 1, 3, 3), 'f')], {'dilations': [2**31 - 1] * 2}),
        ('Col2Im', [np.ones((1, 4, 4), 'f'), HUGE, np.array([2, 2])], {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize('is_constant', [False, True])
def test_bomb_of_sizes(loader, op, inputs, attributes, is_constant):
    """A file of some bytes asks for more memory than the machine has; see ``hostile_nodes.py``."""
    model = node_model(op, inputs, attributes)
    xs = [x for x in inputs if x is not None]
    if is_constant:
        while model.graph.input:
            model.graph.initializer.append(
                numpy_helper.from_array(xs.pop(), model.graph.input.pop().name)
            )
    with within(5), pytest.raises((loader.error, MemoryError)):
        loader.load(model.SerializeToString())(*xs)


# -- bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'data',
    [
        *(b'', b'\x00' * 100, b'not a model', b'\x0a\xff\xff\xff\xff\x0f'),
        *(b'PK\x03\x04' + b'\x00' * 64, b'\x80\x04\x95' + b'\x00' * 64, b'\x0b' * 50),
    ],
    ids=['empty', 'zeros', 'text', 'length', 'zip', 'pickle', 'groups'],
)
def test_files_of_another_kind(loader, data, tmp_path):
    path = tmp_path / 'model.onnx'
    path.write_bytes(data)
    for source in data, path:
        refuses(loader, source, 'no ONNX model')


def _sample():
    weights = {'w': X, 'i': np.array([1, -1])}
    nodes = [helper.make_node('Mul', ['x', 'w'], ['a']), node('Reshape', ['a', 'i'])]
    return model_of(nodes, [info('x')], ['y'], weights).SerializeToString()


def test_truncated_files(loader):
    data = _sample()
    errors = 0
    for length in range(len(data)):
        try:
            loader.load(data[:length])  # what remains may be a smaller model
        except loader.error:
            errors += 1
    assert errors > len(data) // 2


def test_damaged_files(loader):
    """Random changes of bytes give models or errors of the loader, and nothing else."""
    data = _sample()
    rng = np.random.RandomState(0)
    errors = 0
    for _ in range(300):
        damaged = bytearray(data)
        for place in rng.randint(0, len(data), rng.randint(1, 4)):
            damaged[place] = rng.randint(256)
        try:
            loader.load(bytes(damaged))(X)
        except (loader.error, MemoryError, chainerx.ChainerxError):
            errors += 1
    assert 100 < errors < 300
