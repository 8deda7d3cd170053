"""Capsules of DLPack as NumPy makes and takes them, for the memory of a device."""

import ctypes

import numpy

_api = ctypes.pythonapi
_api.PyCapsule_IsValid.argtypes = ctypes.py_object, ctypes.c_char_p
_api.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
#: Where the tensor begins in a capsule of each kind.
_OFFSETS = {b'dltensor': 0, b'dltensor_versioned': 32}
_CPU, _CUDA = 1, 2
#: Whether NumPy makes and takes versioned capsules.
_HAS_VERSIONS = numpy.lib.NumpyVersion(numpy.__version__) >= '2.1.0'


def _device(capsule):
    """The kind and the index of the device, to read and write."""
    name = next(name for name in _OFFSETS if _api.PyCapsule_IsValid(capsule, name))
    tensor = _api.PyCapsule_GetPointer(capsule, name) + _OFFSETS[name]
    return (ctypes.c_int32 * 2).from_address(tensor + ctypes.sizeof(ctypes.c_void_p))


def export(a, device_id, max_version):
    """A capsule of a NumPy array in the memory of a device."""
    capsule = a.__dlpack__(max_version=max_version) if _HAS_VERSIONS else a.__dlpack__()
    _device(capsule)[:] = _CUDA, device_id
    return capsule


def take(x, index, stream, copy):
    """A NumPy array over memory of the device."""
    max_version = (1, 0) if _HAS_VERSIONS else None
    capsule = x.__dlpack__(stream=stream, max_version=max_version, copy=copy)
    device = _device(capsule)
    if tuple(device) != (_CUDA, index):
        raise BufferError(f'the capsule is of device {tuple(device)}, not {(_CUDA, index)}')
    device[:] = _CPU, 0

    class Host:
        def __dlpack_device__(self):
            return _CPU, 0

        def __dlpack__(self, **kwargs):
            return capsule

    # NumPy 1 looks the methods up on the type.
    return numpy.from_dlpack(Host())
