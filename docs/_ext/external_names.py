"""Where the sites of other projects describe their names."""

import inspect
import sys

PYTHON = 'https://docs.python.org/3/library/'
NUMPY = 'https://numpy.org/doc/stable/reference/'
# Projects with one page for each name.
PAGES = {
    'numpy': NUMPY + 'generated/{}.html',
    'cupy': 'https://docs.cupy.dev/en/stable/reference/generated/{}.html',
    'scipy': 'https://docs.scipy.org/doc/scipy/reference/generated/{}.html',
    'mpi4py': 'https://mpi4py.readthedocs.io/en/stable/reference/{}.html',
}
# Projects whose pages describe many names.
SITES = {
    'onnx': 'https://onnx.ai/onnx/api/',
    'h5py': 'https://docs.h5py.org/en/stable/',
    'PIL': 'https://pillow.readthedocs.io/en/stable/reference/Image.html',
    'optuna': 'https://optuna.readthedocs.io/en/stable/reference/',
    'nvidia': 'https://docs.nvidia.com/deeplearning/dali/user-guide/docs/',
    'theano': 'https://pytensor.readthedocs.io/en/latest/',
}
# Pages of NumPy that are not named after what they describe.
NUMPY_PAGES = {
    'numpy': 'index.html',
    'numpy.random': 'random/index.html',
    'numpy.random.RandomState': 'random/legacy.html#numpy.random.RandomState',
    'numpy.random.seed': 'random/generated/numpy.random.seed.html',
    'numpy.float64': 'arrays.scalars.html#numpy.float64',
    'numpy.typing.DTypeLike': 'typing.html#numpy.typing.DTypeLike',
    'numpy.typing.NDArray': 'typing.html#numpy.typing.NDArray',
}
BUILTINS = {'bool', 'bytearray', 'bytes', 'complex', 'dict', 'float', 'frozenset', 'int', 'list'}
BUILTINS |= {'memoryview', 'range', 'set', 'slice', 'str', 'tuple', 'type'}


def _public(path, value):
    """Returns the path by which users know an object: without private and alias modules."""
    if inspect.isclass(value) and path.split('.')[0] != value.__module__.split('.')[0]:
        path = f'{value.__module__}.{value.__qualname__}'
    parts = path.replace('numpy.random.mtrand.', 'numpy.random.').split('.')
    if parts[0] == 'np':
        parts[0] = 'numpy'
    return '.'.join(part for part in parts if not part.startswith('_'))


def _of_python(path, value):
    if inspect.ismodule(value):
        return f'{PYTHON}{path}.html#module-{path}'
    module, _, name = path.rpartition('.')
    while module and module not in sys.modules:
        module = module.rpartition('.')[0]
    if module != 'builtins':
        return f'{PYTHON}{module}.html#{path}'
    if name in BUILTINS:
        return f'{PYTHON}stdtypes.html#{name}'
    if name in ('None', 'Ellipsis', 'True', 'False', 'NotImplemented'):
        return f'{PYTHON}constants.html#{name}'
    known = getattr(sys.modules['builtins'], name, None)
    if inspect.isclass(known) and issubclass(known, BaseException):
        return f'{PYTHON}exceptions.html#{name}'
    return f'{PYTHON}functions.html#{name}'


def url_of(path, value):
    """Returns where a name is described, or ``None`` for a name of this project."""
    path = _public(path, value)
    root = path.split('.')[0]
    if path in NUMPY_PAGES:
        return NUMPY + NUMPY_PAGES[path]
    if root in SITES:
        return SITES[root]
    if root in PAGES:
        return PAGES[root].format(path)
    if root in sys.stdlib_module_names:
        return _of_python(path, value)
    return None
