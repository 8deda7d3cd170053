"""Saving objects to files and loading them."""

from chainer.serializers.hdf5 import HDF5Deserializer, HDF5Serializer, load_hdf5, save_hdf5
from chainer.serializers.name_table import NameTable, Weight
from chainer.serializers.npz import DictionarySerializer, NpzDeserializer, load_npz, save_npz
from chainer.serializers.safetensors import (
    load_safetensors,
    open_safetensors,
    save_safetensors,
)
from chainer.serializers.weights import open_weights

__all__ = [
    'DictionarySerializer',
    'HDF5Deserializer',
    'HDF5Serializer',
    'NameTable',
    'NpzDeserializer',
    'Weight',
    'load_hdf5',
    'load_npz',
    'load_safetensors',
    'open_safetensors',
    'open_weights',
    'save_hdf5',
    'save_npz',
    'save_safetensors',
]
