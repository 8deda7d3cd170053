#pragma once

// Kernels at pointer level compute in float32 or float64 on contiguous memory. These functions adapt other arrays.

#include "chainerx/core/array.h"
#include "chainerx/core/kernels.h"

namespace chainerx {

// The dtype in which kernels compute for floating point arrays.
inline Dtype GetComputeDtype(Dtype dtype) {
    if (CHAINERX_UNLIKELY(IsComplex(dtype))) ThrowComplex("the function", dtype);
    return dtype == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
}

// Calls f(TypeTag<T>{}) with float or double.
template <class F>
void VisitComputeDtype(Dtype dtype, F&& f) {
    if (dtype == Dtype::kFloat64) {
        f(TypeTag<double>{});
    } else {
        f(TypeTag<float>{});
    }
}

inline Array MakeContiguousCopy(const Array& a, Dtype dtype) {
    Array out = Empty(a.shape(), dtype, a.device());
    CopyData(a, out);
    return out;
}

// The values of an array in a dtype, contiguous; the array itself if it already is.
inline Array Input(const Array& a, Dtype dtype) {
    return a.dtype() == dtype && a.IsContiguous() ? a : MakeContiguousCopy(a, dtype);
}
inline Array Contiguous(const Array& a) { return Input(a, a.dtype()); }

inline bool HasKernel(const Array& a, const KernelSlotBase& slot) {
    return a.device().backend().FindKernel(slot) != nullptr;
}

// A view of the real parts (0) or imaginary parts (1) of complex numbers.
inline Array PartView(const Array& a, int part) {
    Dtype dtype = ToRealDtype(a.dtype());
    return internal::MakeArray(a.shape(), a.strides(), dtype, a.device(), a.body()->storage,
                               a.offset() + part * GetItemSize(dtype));
}

// A view with the dimensions in another order.
inline Array Permuted(const Array& a, const Axes& order) {
    Shape shape;
    Strides strides;
    for (int8_t axis : order) {
        shape.push_back(a.shape()[axis]);
        strides.push_back(a.strides()[axis]);
    }
    return internal::MakeView(a, shape, strides, a.offset());
}

// Contiguous memory of a dtype that a kernel writes; Finish() copies it to the array. It is the memory of the array
// itself if possible.
class Output {
public:
    Output(const Array& a, Dtype dtype) : target_{a}, is_direct_{a.dtype() == dtype && a.IsContiguous()} {
        buffer_ = is_direct_ ? a : Empty(a.shape(), dtype, a.device());
    }
    template <class T>
    T* data() const {
        return buffer_.data<T>();
    }
    const Array& buffer() const { return buffer_; }
    void Finish() const {
        if (!is_direct_) CopyData(buffer_, target_);
    }

private:
    const Array& target_;
    bool is_direct_;
    Array buffer_;
};

}  // namespace chainerx
