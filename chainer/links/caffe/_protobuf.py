"""Messages in the wire format of Protocol Buffers.

A schema gives their fields; unknown ones are skipped. See the encoding guide of Protocol Buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NUMBER_DTYPES = {'float': '<f4', 'double': '<f8'}


class Field:
    """One field of a message.

    Args:
        name (str): Name, an attribute of the message.
        kind (str): ``'int'``, ``'bool'``, ``'float'``, ``'double'``,
            ``'string'``, or the name of the message it holds.
        repeated (bool): Whether it is a list.
        default: Value if the field is missing.

    """

    def __init__(self, name: str, kind: str, repeated: bool, default: Any) -> None:
        self.name = name
        self.kind = kind
        self.repeated = repeated
        self.default = default


class Messages(list):
    """Messages of a repeated field."""

    def __init__(self, cls: type[Message]) -> None:
        super().__init__()
        self._cls = cls

    def add(self) -> Message:
        """Appends a new message and returns it."""
        self.append(self._cls())
        return self[-1]


class Message:
    """A message with its fields as attributes; a schema makes a subclass for each kind.

    Missing fields have defaults: an empty list or message, or the value from the schema. Numbers
    of floating point that were read are an array.
    """

    _schema: Schema
    _fields: dict[int, Field]  # by number

    def __init__(self) -> None:
        self._given: set[str] = set()

    def HasField(self, name: str) -> bool:
        """Returns whether the message contains a field."""
        return name in self._given or any(
            field.name == name and self._values(field) for field in self._fields.values()
        )

    def MergeFromString(self, data: bytes) -> None:
        """Reads an encoded message, on top of the fields that there are.

        Raises:
            ValueError: The data is truncated or not such a message.

        """
        self._schema.read_into(self, data)

    def ParseFromString(self, data: bytes) -> None:
        """Reads an encoded message in place of what this one contains."""
        for field in self._fields.values():
            self.__dict__.pop(field.name, None)
        self._given.clear()
        self.MergeFromString(data)

    def SerializeToString(self) -> bytes:
        """Returns the encoded message."""
        return b''.join(
            _encode(number, field.kind, value)
            for number, field in sorted(self._fields.items())
            for value in self._values(field)
        )

    @classmethod
    def kind_of(cls, name: str) -> Any:
        """Returns the kind of a field: the class of a message, or the name of another kind."""
        (kind,) = [field.kind for field in cls._fields.values() if field.name == name]
        return cls._schema.classes.get(kind, kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        for field in self._fields.values():
            if field.name == name:
                return self._make_default(field)
        raise AttributeError(f'there is no field {name!r}')

    def _make_default(self, field):
        cls = self._schema.classes.get(field.kind)
        value: Message | list[Any]
        if field.repeated:
            value = Messages(cls) if cls else []
        elif cls:
            value = cls()
        else:
            return field.default
        setattr(self, field.name, value)
        return value

    def _values(self, field):
        """List of the values of a field to write."""
        value = self.__dict__.get(field.name)
        if value is None:
            return []
        if field.repeated and field.kind in _NUMBER_DTYPES:
            return [numpy.asarray(value)] if len(value) else []
        if field.repeated:
            return value
        is_unused = isinstance(value, Message) and not (
            field.name in self._given or any(value._values(f) for f in value._fields.values())
        )
        return [] if is_unused else [value]

    def _add(self, field, value):
        if field.repeated:
            getattr(self, field.name).extend(value)
        elif len(value) == 0:
            raise ValueError(f'field {field.name!r} has no value')
        else:
            setattr(self, field.name, value[-1])
        self._given.add(field.name)

    def _merge_arrays(self):
        """Makes one array of the pieces of numbers that were read."""
        for field in self._fields.values():
            pieces = self.__dict__.get(field.name)
            if field.repeated and field.kind in _NUMBER_DTYPES and isinstance(pieces, list):
                array = numpy.concatenate([numpy.atleast_1d(piece) for piece in pieces])
                setattr(self, field.name, array)


class Schema:
    """Descriptions of messages.

    Args:
        text (str): A line per message, its name and its fields
            ``number:name:kind``. A kind ends in ``*`` if the field is repeated,
            or in ``=value`` with its default.
        constants (dict): Enumerators by the name of the message.

    """

    def __init__(self, text: str, constants: dict[str, Any]) -> None:
        self.classes: dict[str, type[Message]] = {}
        for line in text.strip().splitlines():
            name, *fields = line.split()
            attributes = {
                '_schema': self,
                '_fields': dict(_parse_field(field) for field in fields),
                '__module__': __name__,
            }
            self.classes[name] = type(name, (Message,), attributes | constants.get(name, {}))

    def read_into(self, message: Message, data: bytes) -> None:
        """Reads the fields of a message; raises :class:`ValueError` for damaged data."""
        view = memoryview(data)
        position = 0
        while position < len(view):
            tag, position = _read_varint(view, position)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise ValueError('a field has the number zero')
            value, position = _read_value(data, position, wire_type)
            field = message._fields.get(number)
            if field is not None:
                message._add(field, self._decode(field, wire_type, value))
        message._merge_arrays()

    def _decode(self, field, wire_type, value):
        """Returns the list of values; a packed field contains several."""
        kind = field.kind
        if kind in _NUMBER_DTYPES:
            return _read_numbers(field, wire_type, value)
        if kind in self.classes or kind == 'string':
            if wire_type != _BYTES:
                raise _wrong_type(field)
            if kind == 'string':
                return [bytes(value).decode('utf-8')]
            message = self.classes[kind]()
            self.read_into(message, value)
            return [message]
        values = _read_integers(field, wire_type, value)
        if kind == 'bool':
            return [bool(v) for v in values]
        return [v - (1 << 64) if v >= 1 << 63 else v for v in values]


def _read_numbers(field, wire_type, value):
    dtype = numpy.dtype(_NUMBER_DTYPES[field.kind])
    if wire_type != _BYTES and wire_type != {4: _FIXED32, 8: _FIXED64}[dtype.itemsize]:
        raise _wrong_type(field)
    if len(value) % dtype.itemsize:
        raise ValueError(f'field {field.name!r} has an incomplete number')
    values = numpy.frombuffer(value, dtype)
    # Weights stay arrays, of which the message makes one.
    return [values] if field.repeated else values.tolist()


def _read_integers(field, wire_type, value):
    if wire_type == _VARINT:
        return [value]
    if wire_type != _BYTES:
        raise _wrong_type(field)
    values, position = [], 0
    while position < len(value):
        item, position = _read_varint(value, position)
        values.append(item)
    return values


_PARSERS: dict[str, Callable[[str], Any]] = {
    'int': int,
    'bool': lambda s: s == 'true',
    'float': float,
    'double': float,
    'string': str,
}


def _parse_field(text):
    number, name, kind = text.split(':')
    kind, _, default = kind.partition('=')
    repeated = kind.endswith('*')
    kind = kind.rstrip('*')
    convert = _PARSERS.get(kind)
    value = None
    if convert is not None:
        value = convert(default or ('' if kind in ('bool', 'string') else '0'))
    return int(number), Field(name, kind, repeated, value)


def _encode(number, kind, value):
    """One field with its number and wire type."""
    if kind in _NUMBER_DTYPES:
        dtype = numpy.dtype(_NUMBER_DTYPES[kind])
        data = numpy.asarray(value, dtype).tobytes()
        if numpy.ndim(value) == 0:
            return _varint(number << 3 | (_FIXED32 if dtype.itemsize == 4 else _FIXED64)) + data
        value = data
    elif isinstance(value, Message):
        value = value.SerializeToString()
    elif kind == 'string':
        value = value.encode()
    else:
        return _varint(number << 3 | _VARINT) + _varint(int(value) & 0xFFFFFFFFFFFFFFFF)
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _wrong_type(field):
    return ValueError(f'field {field.name!r} has a wrong type')


def _read_varint(data, position):
    result = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ValueError('the data is truncated')
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFFFFFFFFFFFFFF, position
    raise ValueError('a number is too long')


def _read_value(data, position, wire_type):
    if wire_type == _VARINT:
        return _read_varint(data, position)
    if wire_type == _BYTES:
        size, position = _read_varint(data, position)
    elif wire_type in (_FIXED32, _FIXED64):
        size = 4 if wire_type == _FIXED32 else 8
    else:
        raise ValueError(f'the wire type {wire_type} is unknown')
    end = position + size
    if end > len(data):
        raise ValueError('the data is truncated')
    return data[position:end], end
