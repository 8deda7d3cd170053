import warnings

from chainer import serializer as serializer_module


def serialize_part(part, serializer):
    """Reads or writes the state of a part of an object, if the part has any.

    If a load fails later, the serializer restores the attributes of the part.
    """
    if hasattr(part, 'serialize'):
        if hasattr(part, '__dict__'):
            serializer_module._remember(serializer, part)
        part.serialize(serializer)


def serialize_extras(parts, serializer):
    """Reads or writes the states of parts, given by name, that snapshots of Chainer 7 lack.

    A missing state is no error: the part guesses it or starts anew.
    """
    if not serializer_module._takes_extras(serializer):
        return
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # about missing states
        for name, part in parts.items():
            try:
                serialize_part(part, serializer[name])
            except KeyError:
                pass
