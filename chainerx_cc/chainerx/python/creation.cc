// Creation routines.

#include "chainerx/ops/creation.h"

#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/docs/creation.h"
#include "chainerx/python/interop.h"

namespace chainerx::python {
namespace {

using OptDtype = std::optional<Dtype>;
using OptDevice = std::optional<DeviceRef>;

Array PyArray(PyObject* object, OptDtype dtype, bool copy, PyObject* device) {
    Device& d = device == Py_None && IsNdarray(object) ? GetArray(object).device() : GetDeviceArg(device);
    return ArrayFromObject(object, dtype, d, copy);
}
Array PyAsArray(PyObject* object, OptDtype dtype, PyObject* device) { return PyArray(object, dtype, false, device); }
Array PyAsContiguousArray(PyObject* a, OptDtype dtype, PyObject* device) {
    Array out = AsContiguous(PyAsArray(a, dtype, device));
    return out.ndim() == 0 ? Reshape(out, Shape{1}) : out;
}

Array PyEmpty(const Shape& shape, OptDtype dtype, DeviceRef device) {
    return Empty(shape, dtype.value_or(Dtype::kFloat32), device);
}
Array PyZeros(const Shape& shape, OptDtype dtype, DeviceRef device) {
    return Zeros(shape, dtype.value_or(Dtype::kFloat32), device);
}
Array PyOnes(const Shape& shape, OptDtype dtype, DeviceRef device) {
    return Ones(shape, dtype.value_or(Dtype::kFloat32), device);
}
Array PyFull(const Shape& shape, const Scalar& value, OptDtype dtype, DeviceRef device) {
    return Full(shape, value, dtype.value_or(value.DefaultDtype()), device);
}

Device& LikeDevice(const Array& a, OptDevice device) { return device.has_value() ? *device->device : a.device(); }
Array PyEmptyLike(const Array& a, OptDevice device, OptDtype dtype) {
    return Empty(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}
Array PyZerosLike(const Array& a, OptDevice device, OptDtype dtype) {
    return Zeros(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}
Array PyOnesLike(const Array& a, OptDevice device, OptDtype dtype) {
    return Ones(a.shape(), dtype.value_or(a.dtype()), LikeDevice(a, device));
}
Array PyFullLike(const Array& a, const Scalar& value, OptDtype dtype, OptDevice device) {
    return Full(a.shape(), value, dtype.value_or(a.dtype()), LikeDevice(a, device));
}

Array PyArange(const Scalar& start, std::optional<Scalar> stop, std::optional<Scalar> step, OptDtype dtype,
               DeviceRef device) {
    Scalar from = stop.has_value() ? start : Scalar{0};
    return Arange(from, stop.value_or(start), step.value_or(Scalar{1}), dtype, device);
}
Array PyLinspace(double start, double stop, int64_t num, bool endpoint, OptDtype dtype, DeviceRef device) {
    return Linspace(start, stop, num, endpoint, dtype, device);
}
Array PyIdentity(int64_t n, OptDtype dtype, DeviceRef device) {
    return Identity(n, dtype.value_or(Dtype::kFloat64), device);
}
Array PyEye(int64_t n, std::optional<int64_t> m, int64_t k, OptDtype dtype, DeviceRef device) {
    return Eye(n, m, k, dtype.value_or(Dtype::kFloat64), device);
}
Array PyTri(int64_t n, std::optional<int64_t> m, int64_t k, OptDtype dtype, DeviceRef device) {
    return Tri(n, m, k, dtype.value_or(Dtype::kFloat32), device);
}

Array PyFromBuffer(PyObject* buffer, OptDtype dtype, int64_t count, int64_t offset, DeviceRef device) {
    Dtype d = dtype.value_or(Dtype::kFloat32);
    if (PyObject_CheckBuffer(buffer) == 0) {
        ThrowTypeError("frombuffer: buffer must have the buffer protocol, %s has not", Py_TYPE(buffer)->tp_name);
    }
    PyRef bytes = Check(PyBytes_FromObject(buffer));
    int64_t size = PyBytes_GET_SIZE(bytes.get());
    int64_t item = GetItemSize(d);
    if (offset < 0 || offset > size) ThrowValueError("frombuffer: offset must be within the buffer");
    if (count < 0) {
        if ((size - offset) % item != 0) ThrowValueError("frombuffer: buffer size must be a multiple of the item size");
        count = (size - offset) / item;
    } else if (count > (size - offset) / item) {
        ThrowValueError("frombuffer: the buffer is smaller than what was asked for");
    }
    return FromHost({count}, d, PyBytes_AS_STRING(bytes.get()) + offset, device);
}

}  // namespace

void BindCreation() {
    const char* family = "creation";
    Bind<&PyArray>({family, "array", "object, dtype=None, copy=True, device=None", docs::kArray, false, "copy"});
    Bind<&PyAsArray>({family, "asarray", "a|object, dtype=None, device=None", docs::kAsArray, false, "copy"});
    Bind<&PyAsContiguousArray>(
            {family, "ascontiguousarray", "a, dtype=None, device=None", docs::kAsContiguousArray, false, "copy"});
    Bind<&PyEmpty>({family, "empty", "shape, dtype=None, device=None", docs::kEmpty, false, ""});
    Bind<&PyZeros>({family, "zeros", "shape, dtype=None, device=None", docs::kZeros, false, "fill"});
    Bind<&PyOnes>({family, "ones", "shape, dtype=None, device=None", docs::kOnes, false, "fill"});
    Bind<&PyFull>({family, "full", "shape, fill_value, dtype=None, device=None", docs::kFull, false, "fill"});
    Bind<&PyEmptyLike>({family, "empty_like", "a, device=None, dtype=None", docs::kEmptyLike, false, ""});
    Bind<&PyZerosLike>({family, "zeros_like", "a, device=None, dtype=None", docs::kZerosLike, false, "fill"});
    Bind<&PyOnesLike>({family, "ones_like", "a, device=None, dtype=None", docs::kOnesLike, false, "fill"});
    Bind<&PyFullLike>({family, "full_like", "a, fill_value, dtype=None, device=None", docs::kFullLike, false, "fill"});
    Bind<&PyArange>(
            {family, "arange", "start, stop=None, step=None, dtype=None, device=None", docs::kArange, false, "arange"});
    Bind<&PyLinspace>({family, "linspace", "start, stop, num=50, endpoint=True, dtype=None, device=None",
                       docs::kLinspace, false, "arange"});
    Bind<&PyIdentity>({family, "identity", "n, dtype=None, device=None", docs::kIdentity, false, ""});
    Bind<&PyEye>({family, "eye", "N, M=None, k=0, dtype='float64', device=None", docs::kEye, false, ""});
    Bind<&PyTri>({family, "tri", "N, M=None, k=0, dtype='float32', device=None", docs::kTri, false, ""});
    Bind<&PyFromBuffer>({family, "frombuffer", "buffer, dtype='float32', count=-1, offset=0, device=None",
                         docs::kFromBuffer, false, ""});
}

}  // namespace chainerx::python
