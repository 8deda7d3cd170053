#pragma once

#include "chainerx/core/convert.h"
#include "chainerx/core/dtype.h"

namespace chainerx::cuda {

// Loads an element of a dtype that all threads share, as a To.
template <class To>
__device__ To LoadAs(Dtype dtype, const char* p) {
    switch (dtype) {
#define CHAINERX_X(type, name, kind, str, ch) \
    case Dtype::name:                         \
        return Convert<type, To>(*reinterpret_cast<const type*>(p));
        CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
        default:  // there are no complex arrays
            return To{};
    }
}

}  // namespace chainerx::cuda
