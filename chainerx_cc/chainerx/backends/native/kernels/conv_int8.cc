#include "chainerx/backends/native/kernels/conv_int8.h"

#include <algorithm>

namespace chainerx::native {
namespace {

int64_t WeightsSizeOf(const ConvShape& shape) {
    int64_t size;
    GetInt8WeightsSize<int8_t>(shape, &size);
    return size;
}

}  // namespace

PackedInt8Conv::PackedInt8Conv(const ConvShape& shape, const void* w, bool is_signed, const int32_t* zeros,
                               bool is_per_channel)
    : inner_{shape.in_channels / shape.groups * SpatialSize(shape.kernel, shape.ndim)},
      channels_{shape.out_channels},
      packed_{WeightsSizeOf(shape)},
      sums_{channels_} {
    if (is_signed) {
        PackInt8Weights(shape, static_cast<const int8_t*>(w), packed_.data(), sums_.data());
    } else {
        PackInt8Weights(shape, static_cast<const uint8_t*>(w), packed_.data(), sums_.data());
    }
    Buffer<int32_t>& all = zeros_.emplace(channels_);
    for (int64_t i = 0; i < channels_; ++i) {
        all.data()[i] = (zeros != nullptr ? zeros[is_per_channel ? i : 0] : 0) - (is_signed ? 0 : 128);
    }
    if (std::all_of(all.data(), all.data() + channels_, [](int32_t zero) { return zero == 0; })) zeros_.reset();
}

// (X - x_zero) (W - zero) = X W - zero sums(X) - x_zero (sums(W) - inner zero)
template <class T>
void PackedInt8Conv::Run(const ConvShape& shape, const void* x, bool is_signed, int32_t zero, const int32_t* bias,
                         const Int8ConvEpilogue& epilogue, T* y) const {
    Scratch<int32_t> starts{channels_};
    auto x_zero = static_cast<uint32_t>(zero + (is_signed ? 128 : 0));
    for (int64_t i = 0; i < channels_; ++i) {
        auto sum = static_cast<uint32_t>(sums_.data()[i]);
        if (zeros_) sum -= static_cast<uint32_t>(inner_) * static_cast<uint32_t>(zeros_->data()[i]);
        uint32_t start = static_cast<uint32_t>(bias != nullptr ? bias[i] : 0) - x_zero * sum;
        starts.data()[i] = static_cast<int32_t>(start);
    }
    Int8Convolution<T> convolution{};
    convolution.shape = shape;
    convolution.x = static_cast<const uint8_t*>(x);
    convolution.is_signed = is_signed;
    convolution.outside = static_cast<uint8_t>(zero);
    convolution.weights = packed_.data();
    convolution.starts = starts.data();
    convolution.zeros = zeros_ ? zeros_->data() : nullptr;
    convolution.epilogue = epilogue;
    convolution.y = y;
    ConvolveInt8(convolution);
}

#define CHAINERX_INSTANTIATE(T)                                                                        \
    template void PackedInt8Conv::Run<T>(const ConvShape&, const void*, bool, int32_t, const int32_t*, \
                                         const Int8ConvEpilogue&, T*) const;
CHAINERX_INSTANTIATE(int32_t)
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(int8_t)
CHAINERX_INSTANTIATE(uint8_t)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native
