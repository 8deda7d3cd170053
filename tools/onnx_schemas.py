"""Writes ``onnx_chainer/schemas.txt``, what ONNX says of its operators.

Run ``python tools/onnx_schemas.py`` with a new version of ``onnx``.

The exporter, the importer and the C++ runner read that file, so that none of them needs the
``onnx`` package for it, and all know the same operators.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, defs, helper

FILE = Path(__file__).resolve().parent.parent / 'onnx_chainer' / 'schemas.txt'

HEADER = f"""\
# What ONNX says of its operators. tools/onnx_schemas.py wrote it with onnx {onnx.__version__}.
#
# A line has the domain and name of an operator, the first opset of this form, the inputs, and the
# attributes. An input that may be missing ends with '?', one that stands for any number with '*'
# and the least number. Behind '/' are the letters of the element types that it takes (NumPy's, and
# more for other types); without, it takes all, or is no tensor. An attribute has the letter of its
# type, in capitals for lists, then '!' if it is required, or '=' and its default. There is no
# default if another opset has an input of this name instead, in whatever case.
"""

# Letters of element types: NumPy's, and further ones for types that it does not have.
LETTERS = {
    'bool': '1', 'int8': 'b', 'int16': 'h', 'int32': 'i', 'int64': 'q',
    'uint8': 'B', 'uint16': 'H', 'uint32': 'I', 'uint64': 'Q',
    'float16': 'e', 'float': 'f', 'double': 'd', 'complex64': 'F', 'complex128': 'D',
    'string': 'O', 'bfloat16': 'w', 'float8e4m3fn': 'm', 'float8e4m3fnuz': 'n', 'float8e5m2': 'r',
    'float8e5m2fnuz': 's', 'float8e8m0': 't', 'float4e2m1': 'x', 'int4': 'k', 'uint4': 'K',
    'int2': 'l', 'uint2': 'L', 'float6e2m3': 'u', 'float6e3m2': 'v',
}  # fmt: skip


def element_types(parameter):
    """The letters of the tensors that an input takes; none if it takes others, too."""
    letters = ''
    for each in sorted(parameter.types):
        inner = each.removeprefix('tensor(').removesuffix(')')
        if inner not in LETTERS:
            return ''
        letters += LETTERS[inner]
    return ''.join(sorted(letters))


def input_token(parameter):
    """An input as in the file."""
    token = parameter.name
    if parameter.option == defs.OpSchema.FormalParameterOption.Optional:
        token += '?'
    if parameter.option == defs.OpSchema.FormalParameterOption.Variadic:
        token += f'*{parameter.min_arity}'
    types = element_types(parameter)
    return f'{token}/{types}' if types else token


def text(value):
    """A default in words; a float is a short decimal if that gives the same float32."""
    if isinstance(value, float):
        short = f'{value:.6g}'
        return repr(float(short)) if np.float32(short) == value else repr(value)
    return value.decode() if isinstance(value, bytes) else str(value)


def attribute_token(attribute, has_default):
    """An attribute as in the file."""
    kind = AttributeProto.AttributeType.Name(attribute.type.value)
    letter = {'STRING': 's', 'SPARSE_TENSOR': 'p', 'TYPE_PROTO': 'y'}.get(kind, kind[0].lower())
    token = f'{attribute.name}:{letter.upper() if kind.endswith("S") else letter}'
    if attribute.required:
        return token + '!'
    if not has_default or not attribute.default_value.name:
        return token
    value = helper.get_attribute_value(attribute.default_value)
    return token + '=' + (','.join(map(text, value)) if isinstance(value, list) else text(value))


def rows():
    """The lines of the file below the header, sorted."""
    schemas = sorted(
        defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version)
    )
    inputs = {}
    for schema in schemas:
        named = inputs.setdefault((schema.domain, schema.name), set())
        named.update(each.name.lower() for each in schema.inputs)
    last = None
    for schema in schemas:
        moved = inputs[schema.domain, schema.name]
        name = f'{schema.domain}.{schema.name}'.lstrip('.')
        tokens = [
            *map(input_token, schema.inputs),
            *(
                attribute_token(attribute, attribute_name.lower() not in moved)
                for attribute_name, attribute in sorted(schema.attributes.items())
            ),
        ]
        if (name, tokens) != last:
            yield ' '.join([name, str(schema.since_version), *tokens])
        last = name, tokens


def content():
    """The text of the file."""
    return HEADER + '\n'.join(rows()) + '\n'


if __name__ == '__main__':
    FILE.write_text(content())
