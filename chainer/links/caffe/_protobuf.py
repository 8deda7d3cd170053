"""A reader of the wire format of Protocol Buffers.

It reads the fields given by a schema and skips unknown ones. See the encoding
guide of Protocol Buffers.
"""

from __future__ import annotations

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


class Message:
    """A message with its fields as attributes.

    Missing fields have defaults: an empty list or message, or the value from
    the schema.

    Args:
        schema (Schema): All kinds of messages.
        kind (str): Name of this message.

    """

    def __init__(self, schema: Schema, kind: str) -> None:
        self._schema = schema
        self._fields = schema.get_fields(kind)
        self._given = set()
        for name, value in schema.get_constants(kind).items():
            setattr(self, name, value)

    def HasField(self, name: str) -> bool:
        """Returns whether the message contains a field."""
        return name in self._given

    def __getattr__(self, name: str) -> Any:
        if name.startswith('_'):
            raise AttributeError(name)
        for field in self._fields.values():
            if field.name == name:
                value = self._make_default(field)
                setattr(self, name, value)
                return value
        raise AttributeError(f'there is no field {name!r}')

    def _make_default(self, field):
        if field.repeated:
            return []
        if field.kind in self._schema:
            return Message(self._schema, field.kind)
        return field.default

    def _add(self, field, value):
        if field.repeated:
            getattr(self, field.name).extend(value)
        elif len(value) == 0:
            raise ValueError(f'field {field.name!r} has no value')
        else:
            setattr(self, field.name, value[-1])
        self._given.add(field.name)


class Schema:
    """Descriptions of messages.

    Args:
        text (str): A line per message, its name and its fields
            ``number:name:kind``. A kind ends in ``*`` if the field is repeated,
            or in ``=value`` with its default.
        constants (dict): Enumerators by the name of the message.

    """

    def __init__(self, text: str, constants: dict[str, Any]) -> None:
        self._constants = constants
        self._messages = {}
        for line in text.strip().splitlines():
            name, *fields = line.split()
            self._messages[name] = dict(_parse_field(field) for field in fields)

    def __contains__(self, kind: object) -> bool:
        return kind in self._messages

    def get_fields(self, kind: str) -> Any:
        return self._messages[kind]

    def get_constants(self, kind: str) -> Any:
        return self._constants.get(kind, {})

    def read(self, kind: str, data: bytes) -> Message:
        """Reads a message.

        Args:
            kind (str): Name of the message.
            data (bytes): Its encoding.

        Returns:
            Message: The message.

        Raises:
            ValueError: The data is truncated or not such a message.

        """
        message = Message(self, kind)
        data = memoryview(data)
        position = 0
        while position < len(data):
            tag, position = _read_varint(data, position)
            number, wire_type = tag >> 3, tag & 7
            if number == 0:
                raise ValueError('a field has the number zero')
            value, position = _read_value(data, position, wire_type)
            field = message._fields.get(number)
            if field is not None:
                message._add(field, self._decode(field, wire_type, value))
        return message

    def _decode(self, field, wire_type, value):
        """Returns the list of values; a packed field contains several."""
        kind = field.kind
        if kind in self:
            if wire_type != _BYTES:
                raise _wrong_type(field)
            return [self.read(kind, value)]
        if kind == 'string':
            if wire_type != _BYTES:
                raise _wrong_type(field)
            return [bytes(value).decode('utf-8')]
        if kind in _NUMBER_DTYPES:
            dtype = numpy.dtype(_NUMBER_DTYPES[kind])
            if wire_type != _BYTES and wire_type != {4: _FIXED32, 8: _FIXED64}[dtype.itemsize]:
                raise _wrong_type(field)
            if len(value) % dtype.itemsize:
                raise ValueError(f'field {field.name!r} has an incomplete number')
            values = numpy.frombuffer(value, dtype)
            # Weights stay an array; the list of a field only collects such pieces.
            return [values] if field.repeated else values.tolist()
        if wire_type == _VARINT:
            values = [value]
        elif wire_type == _BYTES:
            values, position = [], 0
            while position < len(value):
                item, position = _read_varint(value, position)
                values.append(item)
        else:
            raise _wrong_type(field)
        if kind == 'bool':
            return [bool(v) for v in values]
        return [v - (1 << 64) if v >= 1 << 63 else v for v in values]


def _parse_field(text):
    number, name, kind = text.split(':')
    kind, _, default = kind.partition('=')
    repeated = kind.endswith('*')
    kind = kind.rstrip('*')
    convert = {
        'int': int,
        'bool': lambda s: s == 'true',
        'float': float,
        'double': float,
        'string': str,
    }.get(kind)
    value = None
    if convert is not None:
        value = convert(default or ('' if kind in ('bool', 'string') else '0'))
    return int(number), Field(name, kind, repeated, value)


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
