"""All links against Chainer 7: names in files, attributes, seeded values. Copies, pickles, devices."""

import copy
import io
import pickle

import numpy as np
import pytest
from helpers import link_table, recurrent_link_table
from helpers.devices import IS_CUDA
from helpers.functions import devices
from helpers.link_row import digest

import chainer
from chainer import serializers, testing

ROWS = pytest.mark.parametrize(
    'row',
    link_table.LINKS + recurrent_link_table.LINKS,
    ids=lambda row: type(row.make()).__name__,
)


def make(row):
    np.random.seed(0)
    return row.make()


def send(x, device):
    if isinstance(x, list):
        return [send(part, device) for part in x]
    x = getattr(x, 'array', x)
    return None if x is None else device.send(x.copy())


def call(link, args):
    """Returns the outputs of a call from scratch, as a list of NumPy arrays."""
    if hasattr(link, 'reset_state'):
        link.reset_state()
    np.random.seed(1)
    return flat(link(*send(list(args), link.device)))


def flat(y):
    if isinstance(y, (tuple, list)):
        return [a for part in y for a in flat(part)]
    return [chainer.get_device('@numpy').send(y.array)]


def file_names(link):
    file = io.BytesIO()
    serializers.save_npz(file, link)
    file.seek(0)
    with np.load(file, allow_pickle=True) as arrays:
        names = {name: arrays[name] for name in sorted(arrays.files)}
    return ' '.join(
        name + ('' if a.dtype == 'f' else f':{a.dtype}') + str(list(a.shape)).replace(' ', '')
        for name, a in names.items()
    )


def simple(value):
    if isinstance(value, tuple):
        return all(simple(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


def attributes(link):
    return ' '.join(
        name + (f'={value}'.replace(' ', '') if simple(value) else '')
        for name, value in sorted(vars(link).items())
        if not name.startswith('_') and name != 'name'
    )


@ROWS
def test_names_in_files(row):
    link = make(row)
    assert file_names(link) == row.names(called=False)
    if row.args:
        link(*row.args)
    assert file_names(link) == row.names(called=True)


@ROWS
def test_attributes(row):
    assert attributes(make(row)) == row.attributes


@ROWS
def test_seeded_values(row):
    link = make(row)
    if row.init is not None:
        params = [p.array for _, p in sorted(link.namedparams(include_uninit=False))]
        testing.assert_allclose(digest(params), row.init, atol=1e-4, rtol=1e-4)
    if row.out is not None:
        with chainer.using_config('train', False):
            call(link, row.args)
        testing.assert_allclose(digest(call(link, row.args)), row.out, atol=1e-4, rtol=1e-4)


def loaded(row, link, save, load, path):
    save(path, link)
    ret = row.make()
    load(path, ret)
    return ret


@pytest.mark.parametrize('device', devices())
@ROWS
def test_copies_and_files(row, device, tmp_path):
    """Copies, pickles and files of a link hold all that its outputs depend on."""
    if IS_CUDA and 'SimplifiedDropconnect' in type(row.make()).__name__:
        pytest.skip('CuPy draws other random numbers')
    link = make(row)
    call(link, row.args)
    if hasattr(link, 'reset_state'):
        link.reset_state()
    copies = [
        link.copy(),
        link.copy('copy'),
        copy.copy(link),
        copy.deepcopy(link),
        pickle.loads(pickle.dumps(link)),
        loaded(row, link, serializers.save_npz, serializers.load_npz, tmp_path / 'link.npz'),
    ]
    arrays = [p.array for p in copies[1].params()]
    assert not any(a is p.array for a, p in zip(arrays, link.params()))
    with chainer.using_config('train', False):
        expected = call(link, row.args)
        for other in copies:
            assert type(other) is type(link)
            other.to_device(device)
            for y, z in zip(call(other, row.args), expected, strict=True):
                testing.assert_allclose(y, z, atol=1e-5, rtol=1e-5)
