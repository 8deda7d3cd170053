#include "chainerx/backends/native/kernels/conv_int8.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

// Two spatial dimensions: batch, groups, channels in and out, sizes, window, stride, padding, dilation
struct Case {
    int64_t batch;
    int64_t groups;
    int64_t in_channels;
    int64_t out_channels;
    int64_t in[2];
    int64_t kernel[2];
    int64_t stride[2];
    int64_t pad[2];
    int64_t dilation[2];
};

const Case kCases[] = {
        {1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
        {2, 1, 3, 5, {7, 6}, {3, 2}, {1, 1}, {1, 0}, {1, 1}},
        {1, 1, 9, 17, {13, 60}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {1, 2, 8, 6, {9, 11}, {3, 3}, {2, 1}, {1, 1}, {1, 2}},
        {1, 1, 5, 9, {20, 19}, {7, 5}, {2, 3}, {3, 2}, {1, 1}},
        {1, 1, 6, 3, {12, 12}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},
        {2, 6, 6, 6, {10, 33}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {1, 1, 8, 4, {9, 9}, {2, 2}, {1, 1}, {3, 3}, {5, 4}},
        {1, 1, 64, 4, {70, 100}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {1, 1, 0, 4, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
};

ConvShape ShapeOf(const Case& c) {
    ConvShape s{};
    s.ndim = 2;
    s.batch = c.batch;
    s.groups = c.groups;
    s.in_channels = c.in_channels;
    s.out_channels = c.out_channels;
    for (int d = 0; d < 2; ++d) {
        s.in[d] = c.in[d];
        s.kernel[d] = c.kernel[d];
        s.stride[d] = c.stride[d];
        s.pad[d] = c.pad[d];
        s.dilation[d] = c.dilation[d];
        s.out[d] = (c.in[d] + 2 * c.pad[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1;
    }
    return s;
}

std::vector<uint8_t> Bytes(int64_t count, uint32_t seed) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& b : bytes) {
        seed = seed * 1664525 + 1013904223;
        b = seed >> 28 == 0 ? 255 : static_cast<uint8_t>(seed >> 20);
    }
    return bytes;
}

int32_t Number(uint8_t byte, bool is_signed) { return is_signed ? static_cast<int8_t>(byte) : byte; }

// The sums, output by output
std::vector<int32_t> Expected(const ConvShape& s, const std::vector<uint8_t>& x, bool x_signed, int32_t x_zero,
                              const std::vector<uint8_t>& w, bool w_signed, const std::vector<int32_t>& w_zeros) {
    std::vector<int32_t> y;
    int64_t depth = s.in_channels / s.groups;
    for (int64_t n = 0; n < s.batch; ++n) {
        for (int64_t o = 0; o < s.out_channels; ++o) {
            int64_t group = o / (s.out_channels / s.groups);
            for (int64_t i = 0; i < s.out[0] * s.out[1]; ++i) {
                int64_t sum = 0;
                for (int64_t k = 0; k < depth * s.kernel[0] * s.kernel[1]; ++k) {
                    int64_t c = k / (s.kernel[0] * s.kernel[1]);
                    int64_t r = i / s.out[1] * s.stride[0] - s.pad[0] + k / s.kernel[1] % s.kernel[0] * s.dilation[0];
                    int64_t q = i % s.out[1] * s.stride[1] - s.pad[1] + k % s.kernel[1] * s.dilation[1];
                    if (r < 0 || q < 0 || r >= s.in[0] || q >= s.in[1]) continue;
                    int64_t at = ((n * s.in_channels + group * depth + c) * s.in[0] + r) * s.in[1] + q;
                    int64_t weight = Number(w[o * depth * s.kernel[0] * s.kernel[1] + k], w_signed) - w_zeros[o];
                    sum += (Number(x[at], x_signed) - x_zero) * weight;
                }
                y.push_back(static_cast<int32_t>(sum));
            }
        }
    }
    return y;
}

// The kernels of an instruction set
struct Kernels {
    const char* name;
    void (*get_size)(const ConvShape&, int64_t*);
    void (*pack)(const ConvShape&, const uint8_t*, void*, int32_t*);
    void (*pack_signed)(const ConvShape&, const int8_t*, void*, int32_t*);
    void (*convolve)(const Int8Convolution<int32_t>&);
    void (*convolve_to_bytes)(const Int8Convolution<uint8_t>&);
};

#define CHAINERX_KERNELS(isa)                                                                               \
    Kernels {                                                                                               \
        #isa, isa::GetInt8WeightsSize<int8_t>, isa::PackInt8Weights<uint8_t>, isa::PackInt8Weights<int8_t>, \
                isa::ConvolveInt8<int32_t>, isa::ConvolveInt8<uint8_t>                                      \
    }

std::vector<Kernels> AvailableKernels() {
    std::vector<Kernels> all{CHAINERX_KERNELS(base)};
#if CHAINERX_ISA_X86
    if (GetIsa() >= Isa::kV3) all.push_back(CHAINERX_KERNELS(v3));
    if (GetIsa() >= Isa::kV4) all.push_back(CHAINERX_KERNELS(v4));
    if (HasVnni()) all.push_back(CHAINERX_KERNELS(vnni));
#endif
    return all;
}

// All instruction sets give the sums of the plain loop, and the bytes of the same scale, bias and rounding.
TEST(ConvInt8Test, AllInstructionSets) {
    for (const Kernels& f : AvailableKernels()) {
        for (const Case& c : kCases) {
            ConvShape s = ShapeOf(c);
            int64_t outputs = s.batch * s.out_channels * s.out[0] * s.out[1];
            auto x = Bytes(s.batch * s.in_channels * s.in[0] * s.in[1], 1);
            auto w = Bytes(s.out_channels * (s.in_channels / s.groups) * s.kernel[0] * s.kernel[1], 2);
            for (bool x_signed : {false, true}) {
                for (bool w_signed : {false, true}) {
                    int32_t x_zero = x_signed ? -7 : 200;
                    std::vector<int32_t> zeros(s.out_channels);
                    for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = static_cast<int32_t>(i * 5 + 3);
                    auto expected = Expected(s, x, x_signed, x_zero, w, w_signed, zeros);
                    int64_t size = 0;
                    f.get_size(s, &size);
                    std::vector<uint8_t> packed(size);
                    std::vector<int32_t> starts(s.out_channels);
                    if (w_signed) {
                        f.pack_signed(s, reinterpret_cast<int8_t*>(w.data()), packed.data(), starts.data());
                    } else {
                        f.pack(s, w.data(), packed.data(), starts.data());
                    }
                    int64_t inner = s.in_channels / s.groups * s.kernel[0] * s.kernel[1];
                    for (int64_t i = 0; i < s.out_channels; ++i) {
                        zeros[i] -= w_signed ? 0 : 128;
                        auto sum = static_cast<int32_t>(starts[i] - inner * zeros[i]);
                        starts[i] = -(x_zero + (x_signed ? 128 : 0)) * sum;
                    }
                    auto run = [&](auto* y, auto kernel, const Int8ConvEpilogue& epilogue) {
                        Int8Convolution<std::decay_t<decltype(*y)>> convolution{};
                        convolution.shape = s;
                        convolution.x = x.data();
                        convolution.is_signed = x_signed;
                        convolution.outside = static_cast<uint8_t>(x_zero);
                        convolution.weights = packed.data();
                        convolution.starts = starts.data();
                        convolution.zeros = zeros.data();
                        convolution.epilogue = epilogue;
                        convolution.y = y;
                        kernel(convolution);
                    };
                    std::vector<int32_t> sums(outputs, 99);
                    run(sums.data(), f.convolve, {});
                    EXPECT_EQ(sums, expected) << f.name << " case " << &c - kCases;

                    auto scales = RandomVector<float>(s.out_channels, 4, 0.001);
                    auto bias = RandomVector<float>(s.out_channels, 5, 10);
                    std::vector<uint8_t> bytes(outputs, 99);
                    run(bytes.data(), f.convolve_to_bytes, {scales.data(), bias.data(), -60, 90, 0.75F, 100});
                    for (int64_t i = 0; i < outputs; ++i) {
                        int64_t o = i / (s.out[0] * s.out[1]) % s.out_channels;
                        volatile float scaled = static_cast<float>(expected[i]) * scales[o];  // rounded
                        float y = std::fmin(std::fmax(scaled + bias[o], -60.0F), 90.0F) / 0.75F;
                        ASSERT_EQ(bytes[i], std::fmin(std::fmax(std::nearbyint(y) + 100, 0), 255))
                                << f.name << " case " << &c - kCases << " output " << i;
                    }
                }
            }
        }
    }
}

TEST(ConvInt8Test, AllCountsOfThreads) {
    int threads = GetNumThreads();
    for (const Case& c : kCases) {
        ConvShape s = ShapeOf(c);
        auto x = Bytes(s.batch * s.in_channels * s.in[0] * s.in[1], 1);
        auto w = Bytes(s.out_channels * (s.in_channels / s.groups) * s.kernel[0] * s.kernel[1], 2);
        PackedInt8Conv packed{s, w.data(), true, nullptr, false};
        std::vector<int32_t> expected;
        for (int count : {1, 2, 3, 8}) {
            SetNumThreads(count);
            std::vector<int32_t> y(s.batch * s.out_channels * s.out[0] * s.out[1]);
            packed.Run(s, x.data(), false, 128, nullptr, {}, y.data());
            if (count == 1) expected = y;
            EXPECT_EQ(y, expected);
        }
    }
    SetNumThreads(threads);
}

}  // namespace
}  // namespace chainerx::native
