// Products of 8-bit integers, and numbers as such.

#include <algorithm>
#include <cmath>
#include <memory>

#include "chainerx/backends/native/kernels/gemm_int8.h"
#include "chainerx/backends/native/kernels/quantize.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/packed_integers.h"
#include "chainerx/ops/quantization.h"

namespace chainerx::native {
namespace {

// The numbers of multiplications and of elements above which the interpreter lock is released.
constexpr int64_t kIntegersBlockingProducts = 1 << 20;
constexpr int64_t kIntegersBlockingElements = 1 << 16;

Int8Matrix MatrixOf(const Array& x) {
    return {x.raw_data(), x.dtype() == Dtype::kInt8, x.strides()[x.ndim() - 2], x.strides()[x.ndim() - 1]};
}

const int32_t* ZerosOf(const Array& zeros) { return zeros ? zeros.data<int32_t>() : nullptr; }
bool HasMany(const Array& zeros) { return zeros && zeros.GetTotalSize() > 1; }

class NativeIntegers final : public PackedIntegers {
public:
    NativeIntegers(const Array& b, const Array& zeros)
        : inner_{b.shape()[0]},
          columns_{b.shape()[1]},
          packed_{inner_, columns_, MatrixOf(b), ZerosOf(zeros), HasMany(zeros)} {}

    void Run(const Array& a, const Array& a_zeros, const IntegerEpilogue* epilogue, const Array& out) const override {
        int64_t rows = out.GetTotalSize() / columns_;
        BlockingScope blocking{out.GetTotalSize() > kIntegersBlockingProducts / (inner_ + 1)};
        Int8Matrix left{a.raw_data(), a.dtype() == Dtype::kInt8, inner_, 1};
        if (epilogue == nullptr) {
            packed_.Multiply(rows, left, ZerosOf(a_zeros), HasMany(a_zeros), out.data<int32_t>(), columns_);
            return;
        }
        Array b_scale = Contiguous(epilogue->b_scale);
        Array bias = epilogue->bias ? Contiguous(epilogue->bias) : Array{};
        Int8Epilogue after;
        after.scale = epilogue->a_scale.data<float>()[0];
        if (b_scale.GetTotalSize() == columns_) {
            after.scales = b_scale.data<float>();
        } else {
            after.scale *= b_scale.data<float>()[0];
        }
        after.bias = bias ? bias.data<float>() : nullptr;
        after.relu = epilogue->use_relu;
        packed_.Multiply(rows, left, ZerosOf(a_zeros), HasMany(a_zeros), after, out.data<float>());
    }

private:
    int64_t inner_;
    int64_t columns_;
    PackedInt8 packed_;
};

std::unique_ptr<PackedIntegers> PackIntegers(const Array& b, const Array& zeros) {
    BlockingScope blocking{b.GetTotalSize() > kIntegersBlockingElements};
    return std::make_unique<NativeIntegers>(b, zeros);
}

int32_t ByteOf(const Array& zero) {
    return zero.dtype() == Dtype::kInt8 ? *zero.data<int8_t>() : *zero.data<uint8_t>();
}

void QuantizeNative(const Array& x, const Array& scale, const Array& zero, const Array& y) {
    int64_t n = x.GetTotalSize();
    BlockingScope blocking{n > kIntegersBlockingElements};
    float unit = *scale.data<float>();
    if (y.dtype() == Dtype::kInt8) {
        Quantize(n, x.data<float>(), unit, ByteOf(zero), y.data<int8_t>());
    } else {
        Quantize(n, x.data<float>(), unit, ByteOf(zero), y.data<uint8_t>());
    }
}

void DequantizeNative(const Array& x, const Array& scale, const Array& zero, const Array& y) {
    int64_t n = x.GetTotalSize();
    BlockingScope blocking{n > kIntegersBlockingElements};
    float unit = *scale.data<float>();
    if (x.dtype() == Dtype::kInt8) {
        Dequantize(n, x.data<int8_t>(), unit, ByteOf(zero), y.data<float>());
    } else {
        Dequantize(n, x.data<uint8_t>(), unit, ByteOf(zero), y.data<float>());
    }
}

void QuantizeDynamicallyNative(const Array& x, const DynamicallyQuantized& out) {
    int64_t n = x.GetTotalSize();
    BlockingScope blocking{n > kIntegersBlockingElements};
    float range[2];
    FindRange<float>(n, x.data<float>(), range);
    float scale = (range[1] - range[0]) / 255.0F;
    if (scale == 0) scale = 1;
    float zero = std::nearbyint(-range[0] / scale);
    zero = zero > 0 ? std::min(zero, 255.0F) : 0;  // also for NaN
    out.scale.data<float>()[0] = scale;
    out.zero.data<uint8_t>()[0] = static_cast<uint8_t>(zero);
    Quantize(n, x.data<float>(), scale, static_cast<int32_t>(zero), out.y.data<uint8_t>());
}

}  // namespace

const NativeKernels g_integer_kernels{[](Backend& backend) {
    kPackIntegersKernel.Register(backend, &PackIntegers);
    kQuantizeKernel.Register(backend, &QuantizeNative);
    kDequantizeKernel.Register(backend, &DequantizeNative);
    kQuantizeDynamicallyKernel.Register(backend, &QuantizeDynamicallyNative);
}};

}  // namespace chainerx::native
