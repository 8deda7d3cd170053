"""All names of the standard are there, with its parameters and their defaults."""

import inspect

import array_api_strict as strict
import pytest
from chainerx_tests.array_api_tests import common  # noqa: F401  (chooses the version of the standard)

import chainerx
from chainerx import array_api as xp

LEFT_OUT = {'broadcast_shapes': 'is part of version 2025.12'}
EXTENSIONS = 'fft', 'linalg'
NOT_OF_THE_STANDARD = {
    'ArrayAPIStrictFlags',
    'Device',
    'ModuleType',
    'get_array_api_strict_flags',
    'reset_array_api_strict_flags',
    'set_array_api_strict_flags',
}
#: Parameters of array_api_strict that version 2024.12 does not have, or whose defaults mean the same.
OTHER_DEFAULTS = {
    ('astype', 'device'),
    ('from_dlpack', 'device'),
    ('from_dlpack', 'copy'),
}


def _public(module):
    # ``dir`` tells only what this version of the standard has.
    return {n for n in dir(module) if not n.startswith('_') or n.startswith('__array')}


NAMES = sorted(_public(strict) - NOT_OF_THE_STANDARD - set(LEFT_OUT))
FUNCTIONS = [(n, xp, strict) for n in NAMES if inspect.isfunction(getattr(strict, n))] + [
    (n, getattr(xp, extension), getattr(strict, extension))
    for extension in EXTENSIONS
    for n in getattr(strict, extension).__all__
]


def test_what_is_left_out_is_not_there():
    assert [name for name in LEFT_OUT if hasattr(xp, name)] == []
    assert set(LEFT_OUT) <= set(dir(strict)) | {'broadcast_shapes'}


@pytest.mark.parametrize('name', NAMES)
def test_name(name):
    assert hasattr(xp, name)


def test_no_other_names():
    # The function isin became part of the standard later.
    assert _public(xp) - _public(strict) - {*EXTENSIONS, 'isin'} == {'float16'}
    for extension in EXTENSIONS:
        names = {
            name
            for name, value in vars(getattr(xp, extension)).items()
            if inspect.isroutine(value)
            and value.__module__.startswith('chainerx')
            and name[0] != '_'
        }
        assert names == set(getattr(strict, extension).__all__)


@pytest.mark.parametrize(('name', 'ours', 'theirs'), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_signature(name, ours, theirs):
    """All calls that the standard allows are possible."""
    signature = inspect.signature(getattr(ours, name))
    own = list(signature.parameters.values())
    by_name = signature.parameters
    for i, p in enumerate(inspect.signature(getattr(theirs, name)).parameters.values()):
        if p.kind is p.VAR_POSITIONAL:
            assert any(q.kind is q.VAR_POSITIONAL for q in own)
            continue
        q = own[i] if p.kind is p.POSITIONAL_ONLY else by_name[p.name]
        if p.kind is not p.KEYWORD_ONLY:
            assert q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)
            assert own.index(q) == i
        if p.kind is not p.POSITIONAL_ONLY:
            assert q.kind in (q.KEYWORD_ONLY, q.POSITIONAL_OR_KEYWORD)
        if p.default is not p.empty:
            assert q.default == p.default or (name, p.name) in OTHER_DEFAULTS
    for q in own[len(inspect.signature(getattr(theirs, name)).parameters) :]:
        assert q.default is not q.empty or q.kind is q.VAR_KEYWORD


def test_attributes_of_arrays():
    """Those of array_api_strict that are no machinery; ``@=`` takes the result of ``@``."""
    theirs = {name for name, value in vars(type(strict.ones(1))).items() if callable(value)}
    theirs |= {n for n, v in vars(type(strict.ones(1))).items() if isinstance(v, property)}
    machinery = {n for n in theirs if n.startswith('_') and not n.startswith('__')}
    missing = {n for n in theirs - machinery if not hasattr(chainerx.ndarray, n)}
    # Python 3.12 calls __buffer__ what the core gives to all versions.
    assert missing <= {'__imatmul__', '__buffer__'}
    x = xp.ones((2, 2))
    x @= x
    assert x.tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize('name', NAMES)
def test_main_namespace_has_the_name(name):
    assert hasattr(chainerx, name) or name in ('__array_namespace_info__', '__array_api_version__')


@pytest.mark.parametrize('extension', EXTENSIONS)
def test_main_namespace_has_the_names_of_extensions(extension):
    for name in getattr(strict, extension).__all__:
        assert hasattr(getattr(chainerx, extension), name)


def test_constants():
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (strict.e, strict.pi, strict.inf, None)
    assert xp.nan != xp.nan
    assert xp.__array_api_version__ == '2024.12'


def test_dtypes_are_those_of_arrays():
    for name in chainerx._dtypes.DTYPES:
        dtype = getattr(xp, name)
        assert xp.ones(2, dtype=dtype).dtype == dtype
        assert hash(xp.ones(2, dtype=dtype).dtype) == hash(dtype)


@pytest.mark.parametrize('version', [None, '2021.12', '2022.12', '2023.12', '2024.12'])
def test_namespace_of_an_array(version):
    assert xp.ones(2).__array_namespace__(api_version=version) is xp
    assert xp.ones(2).__array_namespace__() is xp


def test_unknown_version():
    with pytest.raises(ValueError, match="2024.12', not '2019.01'"):
        xp.ones(2).__array_namespace__(api_version='2019.01')


def test_info():
    info = xp.__array_namespace_info__()
    theirs = strict.__array_namespace_info__()
    assert info.capabilities().keys() == theirs.capabilities().keys()
    deep = (1,) * info.capabilities()['max dimensions']
    assert xp.ones(deep).shape == deep
    with pytest.raises(chainerx.DimensionError):
        xp.ones((1, *deep))
    assert info.default_device() == xp.ones(1).device
    assert xp.ones(1).device in info.devices()
    with chainerx.using_device('native:1'):
        assert info.default_device().name == 'native:1'
    assert info.default_dtypes() == {
        'real floating': xp.float64,
        'complex floating': xp.complex128,
        'integral': xp.int64,
        'indexing': xp.int64,
    }
    assert info.default_dtypes(device='native:0')['indexing'] == xp.int64
    assert info.dtypes(kind='unsigned integer') == {
        'uint8': xp.uint8,
        'uint16': xp.uint16,
        'uint32': xp.uint32,
        'uint64': xp.uint64,
    }
    assert list(info.dtypes(kind=('bool', 'real floating'))) == ['bool', 'float32', 'float64']
    assert list(info.dtypes()) == list(info.dtypes(device='native:0'))
    assert info.dtypes().keys() == theirs.dtypes().keys()
    for kind in 'signed integer', 'real floating', 'complex floating', 'numeric', 'integral':
        assert info.dtypes(kind=kind).keys() == theirs.dtypes(kind=kind).keys()
