from chainer import serializer as serializer_module


def serialize_part(part, serializer):
    """Reads or writes the state of an object that another one consists of, if it has any.

    A load that fails later puts its attributes back.
    """
    if hasattr(part, 'serialize'):
        if hasattr(part, '__dict__'):
            serializer_module._remember(serializer, part)
        part.serialize(serializer)
