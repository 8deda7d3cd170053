#pragma once

#include "chainerx/core/array.h"
#include "chainerx/core/error.h"

namespace chainerx {

// An error of the function `op` unless its argument has this shape and dtype and is on this device.
inline void CheckLike(const char* op, const char* name, const Array& a, const Shape& shape, Dtype dtype,
                      const Device& device) {
    if (a.shape() != shape) throw DimensionError{op, ": ", name, " has shape ", a.shape(), ", expected ", shape};
    if (a.dtype() != dtype) throw DtypeError{op, ": ", name, " has dtype ", a.dtype(), ", expected ", dtype};
    if (&a.device() != &device) ThrowDeviceMismatch(a.device(), device);
}

}  // namespace chainerx
