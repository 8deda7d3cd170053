// Convolutions of 8-bit integers.

#include "chainerx/ops/integer_convolution.h"

#include <algorithm>
#include <memory>

#include "chainerx/backends/native/kernels/conv_int8.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/backends/native/window.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The numbers of multiplications and of weights above which the interpreter lock is released.
constexpr int64_t kIntegerConvolutionBlockingProducts = 1 << 20;
constexpr int64_t kIntegerConvolutionBlockingElements = 1 << 16;

class NativeIntegerFilters final : public PackedIntegerFilters {
public:
    NativeIntegerFilters(const WindowGeometry& g, const Array& w, const Array& zeros)
        : inner_{w.GetTotalSize() / std::max<int64_t>(g.out_channels, 1)},
          packed_{MakeConvShape(g), w.raw_data(), w.dtype() == Dtype::kInt8, zeros ? zeros.data<int32_t>() : nullptr,
                  zeros && zeros.GetTotalSize() > 1} {}

    void Run(const WindowGeometry& g, const Array& x, const Array& x_zero, const IntegerConvEpilogue* epilogue,
             const Array& y) const override {
        BlockingScope blocking{y.GetTotalSize() > kIntegerConvolutionBlockingProducts / (inner_ + 1)};
        auto run = [&](const int32_t* offset, const Int8ConvEpilogue& after, auto* out) {
            packed_.Run(MakeConvShape(g), x.raw_data(), x.dtype() == Dtype::kInt8, x_zero ? *x_zero.data<int32_t>() : 0,
                        offset, after, out);
        };
        if (epilogue == nullptr) {
            run(nullptr, {}, y.data<int32_t>());
            return;
        }
        Array scale = Contiguous(epilogue->scale);
        Array bias = epilogue->bias ? Contiguous(epilogue->bias) : Array{};
        Array offset = epilogue->offset ? Contiguous(epilogue->offset) : Array{};
        Int8ConvEpilogue after{};
        after.scales = scale.data<float>();
        after.bias = bias ? bias.data<float>() : nullptr;
        after.least = epilogue->least;
        after.most = epilogue->most;
        const int32_t* offsets = offset ? offset.data<int32_t>() : nullptr;
        if (!epilogue->y_zero) {
            run(offsets, after, y.data<float>());
            return;
        }
        after.unit = *epilogue->y_scale.data<float>();
        if (y.dtype() == Dtype::kInt8) {
            after.zero = *epilogue->y_zero.data<int8_t>();
            run(offsets, after, y.data<int8_t>());
        } else {
            after.zero = *epilogue->y_zero.data<uint8_t>();
            run(offsets, after, y.data<uint8_t>());
        }
    }

private:
    int64_t inner_;  // weights of a channel of the output
    PackedInt8Conv packed_;
};

std::unique_ptr<PackedIntegerFilters> PackFilters(const WindowGeometry& g, const Array& w, const Array& zeros) {
    BlockingScope blocking{w.GetTotalSize() > kIntegerConvolutionBlockingElements};
    return std::make_unique<NativeIntegerFilters>(g, w, zeros);
}

}  // namespace

const NativeKernels g_integer_convolution_kernels{
        [](Backend& backend) { kPackIntegerFiltersKernel.Register(backend, &PackFilters); }};

}  // namespace chainerx::native
