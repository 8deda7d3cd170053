from __future__ import annotations

import contextlib
import functools
import inspect
import unittest
from typing import TYPE_CHECKING, Any

import chainerx
from chainer import backend
from chainer.backend import using_device
from chainer.backends import cuda, intel64
from chainer.configuration import using_config
from chainer.testing import _bundle, attr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy
    from typing_extensions import Self

    from chainer.backend import Device
    from chainer.types import NdArray, Xp


class BackendConfig:
    """Device and configuration of a test.

    As a context manager, it switches to the device and sets the configuration.

    Args:
        params (dict): Settings that differ from the defaults:

            - ``use_cuda`` (``False``), ``cuda_device`` (``None``): run with CuPy on that GPU;
            - ``use_chainerx`` (``False``), ``chainerx_device`` (``None``): run with ChainerX,
              on that device, ``'native:0'`` by default;
            - ``use_ideep`` (``'never'``), ``use_cudnn`` (``'never'``), ``cudnn_deterministic``,
              ``autotune``, ``cudnn_fast_batch_normalization`` (``False``): configuration
              entries of the same name.

    Each setting is an attribute of the same name.

    .. admonition:: Example

       >>> from chainer import testing
       >>> backend_config = testing.BackendConfig({'use_ideep': 'never'})
       >>> print(backend_config.device)
       @numpy
       >>> with backend_config:
       ...     x = backend_config.get_array(np.zeros(3))

    """

    _config_entries = {
        'use_cudnn': 'never',
        'cudnn_deterministic': False,
        'autotune': False,
        'cudnn_fast_batch_normalization': False,
        'use_ideep': 'never',
    }
    # Their order is that of the text and of the names of tests.
    _defaults = {
        'use_chainerx': False,
        'chainerx_device': None,
        'use_cuda': False,
        'cuda_device': None,
        **_config_entries,
    }

    use_chainerx: bool
    chainerx_device: str | None
    use_cuda: bool
    cuda_device: int | None
    use_cudnn: str
    use_ideep: str

    def __init__(self, params: dict[str, Any]) -> None:
        if not isinstance(params, dict):
            raise TypeError(f'params must be a dict, got {type(params)}')
        unknown = sorted(set(params) - set(self._defaults))
        if unknown:
            raise ValueError(
                'unknown backend config: {} (known: {})'.format(
                    ', '.join(unknown), ', '.join(self._defaults)
                )
            )
        for name, value in {**self._defaults, **params}.items():
            setattr(self, name, value)
        if self.use_cuda and self.use_chainerx:
            raise ValueError('use_cuda and use_chainerx cannot both be True')
        self._contexts: list[contextlib.ExitStack] = []
        self._device: Device | None = None

    @property
    def device(self) -> Device:
        """chainer.backend.Device: Device of the test."""
        if self._device is None:
            self._device = backend.get_device(self._device_name)
        return self._device

    @property
    def _device_name(self):
        if self.use_cuda:
            return f'@cupy:{self.cuda_device or 0}'
        if self.use_chainerx:
            return self.chainerx_device or 'native:0'
        if self.use_ideep != 'never':
            return '@intel64'
        return '@numpy'

    @property
    def xp(self) -> Xp:
        """module: Array module of the device."""
        return self.device.xp

    def get_array(self, np_array: numpy.ndarray | None) -> NdArray | None:
        """Sends a NumPy array to the device of this configuration; returns ``None`` unchanged.

        Args:
            np_array (:class:`numpy.ndarray` or None): Array.

        Returns:
            :ref:`ndarray` or None: Array on the device.

        """
        return None if np_array is None else self.device.send(np_array)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            for name in self._config_entries:
                stack.enter_context(using_config(name, getattr(self, name)))
            stack.enter_context(using_device(self.device))
            self._contexts.append(stack.pop_all())
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._contexts.pop().__exit__(*exc_info)

    def __repr__(self) -> str:
        return '<BackendConfig {}>'.format(
            ' '.join(f'{name}={getattr(self, name)!r}' for name in self._defaults)
        )

    def get_func_str(self) -> str:
        """Returns a suffix for the names of test methods with this configuration."""
        texts = {True: 'true', False: 'false'}
        settings = [(name, getattr(self, name)) for name in self._defaults]
        return '__'.join(
            f'{name}_{texts[value] if isinstance(value, bool) else value}'
            for name, value in settings
        )

    def get_pytest_marks(self) -> list[Any]:
        """Returns the decorators that mark a test for this device.

        They skip the test if the device is missing.
        """
        marks = []
        if self.use_cuda:
            marks.append(attr.multi_gpu(self.cuda_device + 1) if self.cuda_device else attr.gpu)
        if self.use_cudnn != 'never' and self.use_cuda:
            marks += [attr.cudnn, unittest.skipIf(not cuda.cudnn_enabled, 'cuDNN required')]
        if self.use_ideep != 'never':
            skip = unittest.skipIf(not intel64.is_ideep_available(), 'iDeep required')
            marks += [attr.ideep, skip]
        return marks + (self._chainerx_marks() if self.use_chainerx else [])

    def _chainerx_marks(self):
        skip = unittest.skipIf(not chainerx.is_available(), 'ChainerX required')
        name, _, index = self._device_name.partition(':')
        if name != 'cuda':
            return [attr.chainerx, skip]
        index = int(index or 0)
        return [attr.chainerx, skip, attr.multi_gpu(index + 1) if index else attr.gpu]


def _bind_config(method, backend_config):
    """Makes a test method that passes the configuration as the first argument."""

    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        return method(self, backend_config, *args, **kwargs)

    # pytest's marks take a lambda for an argument of the mark rather than a test.
    if wrapper.__name__ == '<lambda>':
        wrapper.__name__ = 'test'
    # pytest takes the remaining parameters for fixtures, so hide the bound one.
    parameters = list(inspect.signature(method).parameters.values())
    if len(parameters) > 1 and parameters[1].kind is not inspect.Parameter.VAR_POSITIONAL:
        del parameters[1]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # of functions
    del wrapper.__wrapped__
    for mark in backend_config.get_pytest_marks():
        wrapper = mark(wrapper)
    return wrapper


def inject_backend_tests(
    method_names: Sequence[str], params: Sequence[dict[str, Any]]
) -> Callable[..., Any]:
    """Makes a class decorator that runs test methods once per backend configuration.

    The methods take the :class:`BackendConfig` as their argument. One method per configuration
    replaces them, with the marks and skips of the configuration and a name that shows it
    (:meth:`BackendConfig.get_func_str`). You can apply the decorator several times to the same
    methods: the lowest one passes the first argument.

    Args:
        method_names (list of str): Names of the methods, or ``None`` for all tests of the class.
        params (list of dict): Settings of the configurations, see :class:`BackendConfig`.

    Returns:
        A decorator of test classes.

    .. admonition:: Example

       >>> import unittest
       >>> from chainer import testing
       >>> @testing.inject_backend_tests(['test_copy'], [{}, {'use_cuda': True}])
       ... class TestCopy(unittest.TestCase):
       ...     def test_copy(self, backend_config):
       ...         x = backend_config.get_array(np.ones(2))
       ...         testing.assert_allclose(x.copy(), np.ones(2))

    """
    if not (method_names is None or isinstance(method_names, list)):
        raise TypeError(f'method_names must be None or a list, got {type(method_names)}')
    if not isinstance(params, list):
        raise TypeError(f'params must be a list of dicts, got {type(params)}')
    backend_configs = [BackendConfig(param) for param in params]

    def decorate(case):
        injected = dict(getattr(case, '_injected_tests', {}))
        for name in _find_tests(case, method_names):
            injected[name] = _inject(case, name, backend_configs)
            setattr(case, name, None)  # hides an inherited method, too
        case._injected_tests = injected
        return case

    return lambda target: _bundle.decorate(decorate, target)


def _find_tests(case, names):
    """Names of the methods that are called ``names``; of all tests for ``None``."""
    if names is None:
        return [n for n in dir(case) if n.startswith('test') and callable(getattr(case, n))]
    return [found for name in names for found in _find_test(case, name)]


def _find_test(case, name):
    if callable(getattr(case, name, None)):
        return [name]
    # An earlier application of the decorator put the method under longer names.
    replaced = getattr(case, '_injected_tests', {})
    if name not in replaced:
        raise AttributeError(f'{case.__name__} has no test method {name}')
    return _find_tests(case, replaced[name])


def _inject(case, name, backend_configs):
    """Adds a method for each configuration; returns their names."""
    method = getattr(case, name)
    names: list[str] = []
    for i, config in enumerate(backend_configs):
        new_name = f'{name}__{config.get_func_str()}'
        if new_name in names:
            new_name += f'_{i}'
        wrapper = _bind_config(method, config)
        wrapper.__name__ = new_name
        setattr(case, new_name, wrapper)
        names.append(new_name)
    return names
