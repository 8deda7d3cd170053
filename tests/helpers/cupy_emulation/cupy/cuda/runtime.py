"""CUDA's runtime: devices, and copies between addresses of the host's memory."""

import ctypes

from cupy.cuda import _device
from cupy.cuda._device import CUDARuntimeError as CUDARuntimeError

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = range(4)
memcpyDefault = 4
setDevice = _device.set_device
getDevice = _device.current


def getDeviceCount():
    _device.initialize()
    return _device.COUNT


def getDeviceProperties(device):
    with _device.Device(device):
        return {'name': b'Emulated GPU', 'major': 9, 'minor': 0, 'totalGlobalMem': 2**34}


def deviceSynchronize():
    _device.initialize()


def streamSynchronize(stream):
    _device.initialize()


def runtimeGetVersion():
    return 13000


def driverGetVersion():
    return 13000


def memGetInfo():
    return _device.Device().mem_info


def memcpy(dst, src, size, kind):
    _device.initialize()
    ctypes.memmove(dst, src, size)


def memcpyAsync(dst, src, size, kind, stream):
    memcpy(dst, src, size, kind)


def memcpyPeer(dst, dstDevice, src, srcDevice, size):
    memcpy(dst, src, size, memcpyDeviceToDevice)


def memset(ptr, value, size):
    _device.initialize()
    ctypes.memset(ptr, value, size)


def deviceCanAccessPeer(device, peerDevice):
    # So that an array on the wrong device is an error, as between GPUs without a link
    return 0
