#pragma once

// Numbers as bytes q, x = (q - zero) scale, outside of graphs.

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"

namespace chainerx {

// In what follows, x is contiguous, scale and zero have one element, and all are on one device. Backends need not have
// these kernels.
using QuantizeKernel = KernelSlot<void(const Array& x, const Array& scale, const Array& zero, const Array& y)>;
extern const QuantizeKernel kQuantizeKernel;
using DequantizeKernel = KernelSlot<void(const Array& x, const Array& scale, const Array& zero, const Array& y)>;
extern const DequantizeKernel kDequantizeKernel;

// x / scale rounded half to even, plus the zero point, within the limits of its dtype, int8 or uint8. x and scale are
// float32; scale and zero have one element.
Array QuantizeBytes(const Array& x, const Array& scale, const Array& zero);

// (x - zero) scale as float32, for x of int8 or uint8, the zero point of its dtype, and the scale of float32; both have
// one element.
Array DequantizeBytes(const Array& x, const Array& scale, const Array& zero);

// x as uint8, with the scale (float32) and the zero point (uint8), arrays without dimensions, that let 0 to 255 reach
// from the least to the largest of the numbers and zero.
struct DynamicallyQuantized {
    Array y;
    Array scale;
    Array zero;
};
using QuantizeDynamicallyKernel = KernelSlot<void(const Array& x, const DynamicallyQuantized& out)>;
extern const QuantizeDynamicallyKernel kQuantizeDynamicallyKernel;

// x: float32
DynamicallyQuantized QuantizeDynamically(const Array& x);

}  // namespace chainerx
