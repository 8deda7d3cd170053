from __future__ import annotations

import functools
import os
import random
import types
from typing import TYPE_CHECKING, Any

import numpy

from chainer.backends import cuda
from chainer.testing import _bundle

if TYPE_CHECKING:
    from collections.abc import Callable

# Saved states of the generators, one entry per set-up that has not been torn down.
_saved_states: list[Any] = []


def do_setup(deterministic: bool = True) -> None:
    """Saves the random states and seeds the generators of Python, NumPy and CuPy.

    Args:
        deterministic (bool): If ``True``, uses a fixed seed, otherwise entropy.

    .. admonition:: Example

        >>> from chainer.testing import random
        >>> random.do_setup()
        >>> x = np.random.randint(1000)
        >>> random.do_teardown()
        >>> random.do_setup()
        >>> bool(x == np.random.randint(1000))
        True
        >>> random.do_teardown()

    """
    cupy_random = cuda.cupy.random if cuda.available else None
    _saved_states.append(
        (
            random.getstate(),
            numpy.random.get_state(),
            cupy_random and cupy_random.get_random_state(),
        )
    )
    seed = 99 if deterministic else int.from_bytes(os.urandom(4), 'little')
    random.seed(seed)
    numpy.random.seed(seed)
    if cupy_random:
        cupy_random.set_random_state(cupy_random.RandomState(seed))


def do_teardown() -> None:
    """Restores the random states that the matching :func:`do_setup` saved.

    Raises:
        IndexError: If there is none.

    .. admonition:: Example

        >>> from chainer.testing import random
        >>> state = np.random.get_state()[1]
        >>> random.do_setup()
        >>> random.do_teardown()
        >>> bool((np.random.get_state()[1] == state).all())
        True

    """
    python_state, numpy_state, cupy_state = _saved_states.pop()
    random.setstate(python_state)
    numpy.random.set_state(numpy_state)
    if cupy_state is not None:
        cuda.cupy.random.set_random_state(cupy_state)


def _wrap_method(method):
    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        do_setup()
        try:
            return method(*args, **kwargs)
        finally:
            do_teardown()

    return wrapper


def _wrap_class(cls, setup_method, teardown_method):
    """Adds the seeding to the set-up and tear-down of the class."""
    setup = getattr(cls, setup_method, None)
    teardown = getattr(cls, teardown_method, None)

    # No functools.wraps with an absent method: pytest reads the signature of plain classes'.
    def new_setup(self):
        do_setup()
        if setup is not None:
            try:
                setup(self)
            except BaseException:
                do_teardown()  # the test's tear-down does not run then
                raise

    def new_teardown(self):
        try:
            if teardown is not None:
                teardown(self)
        finally:
            do_teardown()

    setattr(cls, setup_method, new_setup)
    setattr(cls, teardown_method, new_teardown)
    return cls


def fix_random(
    *, setup_method: str = 'setUp', teardown_method: str = 'tearDown'
) -> Callable[..., Any]:
    """Makes a decorator that fixes the random numbers of a test.

    It seeds the generators of Python, NumPy and CuPy before the test and restores their states
    after it. It decorates a test method, a test function, or a test class, where every test
    starts from the same seed.

    Args:
        setup_method (str): Name of the class's set-up method.
        teardown_method (str): Name of the class's tear-down method.

    Returns:
        The decorator.

    .. admonition:: Example

       >>> from chainer import testing
       >>> @testing.fix_random()
       ... def draw():
       ...     return np.random.uniform()
       >>> draw() == draw()
       True

    """

    def decorate(target):
        if isinstance(target, types.FunctionType):
            return _wrap_method(target)
        if isinstance(target, type):
            return _wrap_class(target, setup_method, teardown_method)
        raise ValueError(f"Can't apply fix_random to an object of type {type(target)}")

    return lambda target: _bundle.decorate(decorate, target)


def generate_seed() -> int:
    """Draws a seed for another generator.

    Under :func:`fix_random`, the seed is the same in every run.

    Returns:
        int: A seed from 0 to :math:`2^{31} - 2`.

    .. admonition:: Example

        >>> from chainer import testing
        >>> rng = np.random.RandomState(testing.generate_seed())
        >>> rng.rand(2).shape
        (2,)

    """
    return int(numpy.random.randint(0x7FFFFFFF))
