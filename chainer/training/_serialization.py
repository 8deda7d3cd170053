import json
import warnings

import numpy

from chainer import reporter, serializer as serializer_module
from chainer._core.models import saving
from chainer.serializers import npz


def serialize_part(part, serializer, name=None):
    """Reads or writes the state of a part of an object, under its name, if the part has any.

    If a load fails later, the serializer restores the attributes of the part.
    """
    if hasattr(part, 'serialize'):
        if hasattr(part, '__dict__'):
            saving.remember(serializer, part)
        part.serialize(serializer if name is None else get_child(serializer, name))


def get_child(serializer, name):
    """Returns the serializer of a child, which is empty where an HDF5 file has no such group.

    Parts without values may have no group.
    """
    try:
        return serializer[name]
    except KeyError:
        return npz.NpzDeserializer({}, path=name + '/')


def serialize_extras(parts, serializer):
    """Reads or writes the states of parts, given by name, that snapshots of Chainer 7 lack.

    A missing state is no error: the part guesses it or starts from its initial state.
    """
    if not saving.takes_extras(serializer):
        return
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # about missing states
        for name, part in parts.items():
            try:
                serialize_part(part, serializer, name)
            except KeyError:
                pass


def serialize_observation(serializer, observation):
    """Writes the scalars of an observation and returns it, or returns one that it reads.

    A snapshot is written before the stop trigger sees the observation of the iteration.
    """
    if not isinstance(serializer, serializer_module.Serializer):
        return saving.load_json(serializer, '_observation', dict, float, {})
    values = {}
    for key, value in observation.items():
        value = reporter._unwrap(value)
        if reporter._is_scalar(value) and not numpy.iscomplexobj(value):
            values[key] = float(value)
    serializer('_observation', json.dumps(values))
    return observation
