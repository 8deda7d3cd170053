"""Links whose weights are integers, and whose inputs are rounded to what integers hold."""

from __future__ import annotations

import contextlib
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy

from chainer import backend, functions, links
from chainer.link_hooks._weight import WeightHook
from chainer.links.rnn.n_step_rnn import NStepRNNBase
from chainer.quantization import _functions, _linear, _packing, _scales
from chainer.quantization._calibration import floats_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainer.link import Link
    from chainer.quantization._scheme import WeightFormat
    from chainer.types import VariableLike


class Converted:
    """Base of the classes of links that quantization makes, each besides the class of the link."""

    __dict__: dict[str, Any]
    _prefix = 'Quantized'
    _base: Any
    _formats: dict[str, tuple[Any, ...]]  # plain tuples, which `chainer.compile` can watch

    def __reduce_ex__(self, protocol: Any) -> Any:
        # The class of this object is made at run time: pickle finds it by those it is made of.
        return _new, (type(self).__mro__[1], self._base), self.__dict__

    def _quantized_inputs(self, args, kwargs):
        """Arguments, with those that have a scale rounded by :meth:`_quantized_input`."""
        new: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        for place, _ in floats_of([*new.items()]):
            if place in self._inputs:
                new[place] = self._quantized_input(place, new[place])
        return [new.pop(i) for i in range(len(args))], new

    #: Places of the inputs that are rounded.
    _inputs: tuple[int | str, ...] = ()

    def _quantized_input(self, place, x):
        raise NotImplementedError

    def weight(self, name: str) -> Any:
        """What a weight of this link is during a call."""
        raise NotImplementedError

    @contextlib.contextmanager
    def _weights_replaced(self) -> Iterator[None]:
        attributes = self.__dict__
        new = {name: self.weight(name) for name in self._formats}
        old = {name: attributes[name] for name in new if name in attributes}
        attributes.update(new)
        try:
            yield
        finally:
            for name in new:
                attributes.pop(name, None)
            attributes.update(old)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the link with rounded inputs and weights."""
        args, kwargs = self._quantized_inputs(args, kwargs)
        with self._weights_replaced():
            return self._base.forward(self, *args, **kwargs)


class Quantized(Converted):
    """Link whose weights are integers.

    The weight ``W`` is the persistent values ``W_quantized`` and ``W_scale``. The attribute ``W``
    is the variable of its numbers, which each use makes again.
    """

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get('_formats', ()):
            return self.weight(name)
        return super().__getattribute__(name)

    def weight(self, name: str) -> Any:
        shape, bits, axis, block_size = self._formats[name]
        function = _functions.DequantizeLinear(axis or 0, block_size, shape if bits == 4 else None)
        values = self.__dict__
        return function.apply((values[f'{name}_quantized'], values[f'{name}_scale']))[0]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the link. A linear layer multiplies with packed weights, if its input is floats."""
        is_linear = self._base.forward is links.Linear.forward
        if is_linear and not self._inputs and _has_rows(*self._formats.get('W', ((), 0, 0, 0))):
            return self._product(*args, **kwargs)
        return super().forward(*args, **kwargs)

    def _product(self, x: VariableLike, n_batch_axes: int = 1) -> Any:
        values = self.__dict__
        _, bits, _, block_size = self._formats['W']
        inner = math.prod(x.shape[n_batch_axes:])
        batch = x.shape[:n_batch_axes]
        y = _linear.quantized_linear(
            functions.reshape(x, (math.prod(batch), inner)),
            values['W_quantized'],
            values['W_scale'],
            b=values['b'],
            dtype=f'int{bits}',
            block_size=block_size or max(inner, 1),
        )
        return y if n_batch_axes == 1 else functions.reshape(y, (*batch, y.shape[1]))

    def _quantized_input(self, place, x):
        scale, zero = (self.__dict__[f'input_{place}_{what}'] for what in ('scale', 'zero_point'))
        q = _functions.quantize_linear(x, scale, zero)
        return _functions.dequantize_linear(q, scale, zero)


def _has_rows(shape, bits, axis, block_size):
    """Whether each row of a matrix has whole bytes, and scales of its own."""
    return len(shape) == 2 and shape[1] * bits % 8 == 0 and axis == (1 if block_size else 0)


class Layers(Converted):
    """Link of layers of a recurrent network, whose lists of weights are made for each use."""

    def _list_params(self):
        self.__dict__.pop('ws', None)
        self.__dict__.pop('bs', None)

    def __getattr__(self, name: str) -> Any:
        if name not in ('ws', 'bs'):
            return super().__getattribute__(name)
        link: Any = self
        return [[_weight(layer, f'{name[0]}{j}') for j in range(link.n_weights)] for layer in link]


def _weight(link, name):
    is_weight = isinstance(link, Converted) and name in link._formats
    return link.weight(name) if is_weight else getattr(link, name)


@functools.cache
def _class_of(mixin, base):
    attributes = {'_base': base, '__module__': mixin.__module__, '__doc__': mixin.__doc__}
    return type(f'{mixin._prefix}{base.__name__}', (mixin, base), attributes)


def _new(mixin, base):
    cls = _class_of(mixin, base)
    return cls.__new__(cls)


def change_class(link: Any, mixin: Any) -> None:
    """Makes a link one of ``mixin``, and of its own class.

    Raises:
        ValueError: A hook replaces a weight of the link.

    """
    for name, hook in (link._local_link_hooks or {}).items():
        if isinstance(hook, WeightHook):
            raise ValueError(f'the hook {name} replaces a weight of {link}; delete it')
    base: Any = type(link)
    link.__class__ = _class_of(mixin, base)
    link._formats = {}


def change_parents(model: Link) -> None:
    """Has recurrent networks use the weights that their layers have now."""
    for link in list(model.links()):
        if isinstance(link, NStepRNNBase) and not isinstance(link, Converted):
            if any(isinstance(layer, Converted) for layer in link):
                change_class(link, Layers)
                link._list_params()


def add_input(link: Any, place: int | str, scale: float, zero: int, dtype: str, like: Any) -> None:
    """Gives a quantized link the scale, of the dtype ``like``, and zero point of an input."""
    link._inputs = (*link._inputs, place)
    values = {'scale': numpy.array(scale, like), 'zero_point': numpy.array(zero, dtype)}
    for what, value in values.items():
        link.add_persistent(f'input_{place}_{what}', link.device.send(value))


def replace_weight(link: Any, name: str, form: WeightFormat) -> None:
    """Replaces a weight of a quantized link by integers and their scales."""
    device = link.device
    W: Any = backend.CpuDevice().send(link.__dict__[name].array)
    scale = _scales.scale_of_weight(W, form.bits, form.axis, form.block_size)
    q = _scales.integers_of(W, scale, form.bits, form.axis, form.block_size)
    delattr(link, name)
    link._formats[name] = tuple(form)
    link.add_persistent(f'{name}_quantized', device.send(_packing.pack(q) if form.bits == 4 else q))
    link.add_persistent(f'{name}_scale', device.send(scale))
