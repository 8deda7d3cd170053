// Arrays from Python objects.

#include "chainerx/ops/creation.h"

#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/docs/creation.h"
#include "chainerx/python/interop.h"

namespace chainerx::python {
namespace {

// The given device, otherwise the device of an array.
Array PyArray(PyObject* object, std::optional<Dtype> dtype, bool copy, Device* device) {
    Device& d = device != nullptr ? *device : IsNdarray(object) ? GetArray(object).device() : GetDefaultDevice();
    return ArrayFromObject(object, dtype, d, copy);
}
Array PyAsArray(PyObject* object, std::optional<Dtype> dtype, Device* device) {
    return PyArray(object, dtype, false, device);
}
Array PyAsContiguousArray(PyObject* a, std::optional<Dtype> dtype, Device* device) {
    Array out = AsContiguous(PyAsArray(a, dtype, device));
    return out.ndim() == 0 ? Reshape(out, Shape{1}) : out;
}

}  // namespace

void BindConversions(const char* family) {
    Bind<&PyArray>(family, {"array", "object, dtype=None, copy=True, device=None", "copy", docs::kArray, false});
    Bind<&PyAsArray>(family, {"asarray", "a|object, dtype=None, device=None", "copy", docs::kAsArray, false});
    Bind<&PyAsContiguousArray>(
            family, {"ascontiguousarray", "a, dtype=None, device=None", "copy", docs::kAsContiguousArray, false});
}

}  // namespace chainerx::python
