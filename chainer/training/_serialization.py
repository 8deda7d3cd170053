from chainer import serializer as serializer_module


def serialize_part(part, serializer):
    """Reads or writes the state of a part of an object, if the part has any.

    If a load fails later, the serializer restores the attributes of the part.
    """
    if hasattr(part, 'serialize'):
        if hasattr(part, '__dict__'):
            serializer_module._remember(serializer, part)
        part.serialize(serializer)
