#include "chainerx/backends/native/kernels/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "chainerx/backends/native/kernels/test_util.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

// Calls visit(x index, w index, y index) for every product of the convolution.
template <class F>
void VisitProducts(const ConvShape& s, const F& visit) {
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    for (int64_t n = 0; n < s.batch; ++n) {
        for (int64_t oc = 0; oc < s.out_channels; ++oc) {
            for (int64_t c = 0; c < in_group; ++c) {
                for (int64_t o = 0; o < out_size; ++o) {
                    for (int64_t t = 0; t < taps; ++t) {
                        int64_t index = 0;
                        int64_t scale = 1;
                        int64_t o_rest = o;
                        int64_t t_rest = t;
                        bool inside = true;
                        for (int d = s.ndim - 1; d >= 0; --d) {
                            int64_t i =
                                    o_rest % s.out[d] * s.stride[d] - s.pad[d] + t_rest % s.kernel[d] * s.dilation[d];
                            inside = inside && 0 <= i && i < s.in[d];
                            index += i * scale;
                            scale *= s.in[d];
                            o_rest /= s.out[d];
                            t_rest /= s.kernel[d];
                        }
                        if (inside) {
                            int64_t channel = oc / out_group * in_group + c;
                            visit((n * s.in_channels + channel) * in_size + index, (oc * in_group + c) * taps + t,
                                  (n * s.out_channels + oc) * out_size + o);
                        }
                    }
                }
            }
        }
    }
}

template <class T>
void ExpectNear(const std::vector<T>& actual, const std::vector<double>& expected, double tolerance, const char* what) {
    for (size_t i = 0; i < actual.size(); ++i) {
        ASSERT_LE(std::abs(actual[i] - expected[i]), tolerance * (1 + std::abs(expected[i]))) << what << " at " << i;
    }
}

struct Dim {
    int64_t in, kernel, stride, pad, dilation;
    int64_t extra_out = 0;  // output positions beyond the floor rule, as with cover_all
};

ConvShape MakeShape(int64_t batch, int64_t groups, int64_t in_channels, int64_t out_channels,
                    const std::vector<Dim>& dims) {
    ConvShape s{};
    s.ndim = static_cast<int>(dims.size());
    s.batch = batch;
    s.groups = groups;
    s.in_channels = in_channels;
    s.out_channels = out_channels;
    for (int d = 0; d < s.ndim; ++d) {
        const Dim& dim = dims[d];
        s.in[d] = dim.in;
        s.kernel[d] = dim.kernel;
        s.stride[d] = dim.stride;
        s.pad[d] = dim.pad;
        s.dilation[d] = dim.dilation;
        int64_t span = dim.dilation * (dim.kernel - 1) + 1;
        s.out[d] = (dim.in + 2 * dim.pad - span) / dim.stride + 1 + dim.extra_out;
    }
    return s;
}

const std::vector<ConvShape>& Shapes() {
    static const std::vector<ConvShape> shapes{
            MakeShape(2, 1, 3, 5, {{9, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}),
            MakeShape(1, 1, 20, 25, {{12, 3, 1, 1, 1}, {40, 3, 1, 1, 1}}),
            MakeShape(3, 1, 70, 13, {{6, 3, 1, 0, 1}, {8, 3, 1, 2, 1}}),
            MakeShape(5, 1, 33, 30, {{4, 3, 1, 1, 1}, {4, 3, 1, 1, 1}}),
            MakeShape(2, 1, 4, 6, {{11, 3, 2, 1, 1}, {13, 5, 3, 2, 1}}),
            MakeShape(2, 1, 4, 6, {{11, 1, 1, 0, 1}, {13, 1, 1, 0, 1}}),
            MakeShape(2, 1, 4, 6, {{11, 1, 2, 0, 1}, {12, 1, 2, 0, 1}}),
            MakeShape(2, 1, 4, 6, {{11, 3, 1, 2, 2}, {16, 2, 2, 3, 3}}),
            MakeShape(2, 3, 6, 9, {{5, 3, 1, 1, 1}, {6, 3, 2, 1, 1}}),
            MakeShape(2, 4, 4, 8, {{5, 3, 1, 1, 1}, {6, 3, 1, 1, 1}}),
            MakeShape(2, 1, 3, 4, {{50, 5, 2, 2, 1}}),
            MakeShape(1, 1, 2, 3, {{5, 3, 1, 1, 1}, {4, 2, 2, 0, 1}, {6, 3, 1, 1, 2}}),
            MakeShape(2, 1, 2, 3, {{8, 3, 2, 0, 1, 1}, {8, 3, 2, 1, 1, 1}}),
            MakeShape(2, 1, 2, 3, {{5, 2, 4, 0, 1}, {5, 2, 3, 0, 1}}),  // positions of x that nothing reads
            MakeShape(2, 1, 3, 4, {{3, 3, 1, 4, 1}, {3, 2, 1, 5, 1}}),  // more padding than kernel
            // Rows of whole vectors, read without packing
            MakeShape(2, 1, 3, 7, {{5, 3, 1, 1, 1}, {16, 3, 1, 1, 1}}),
            MakeShape(20, 1, 3, 8, {{2, 3, 1, 1, 1}, {16, 3, 1, 1, 1}}),
            MakeShape(3, 1, 45, 13, {{40, 3, 1, 1, 1}, {32, 3, 1, 1, 1}}),
            MakeShape(2, 1, 4, 6, {{9, 3, 1, 2, 2}, {16, 5, 1, 2, 1}}),
            MakeShape(2, 2, 6, 8, {{6, 3, 1, 0, 1}, {18, 3, 1, 0, 1}}),
            MakeShape(2, 1, 3, 4, {{8, 3, 2, 1, 1}, {32, 3, 2, 1, 1}}),
            MakeShape(2, 1, 3, 4, {{9, 3, 1, 4, 1}, {30, 5, 2, 3, 1}}),
            MakeShape(3, 1, 3, 7, {{12, 3, 2, 2, 2}, {33, 3, 2, 1, 2}}),
            MakeShape(1, 1, 3, 8, {{60, 7, 2, 3, 1}, {59, 7, 2, 3, 1, 2}}),
            MakeShape(2, 1, 3, 4, {{3, 3, 1, 4, 1}, {11, 2, 1, 3, 1}}),
            MakeShape(1, 1, 3, 4, {{70, 3, 1, 1, 1}, {64, 3, 1, 1, 1}}),
            MakeShape(1, 1, 40, 30, {{7, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}),  // few columns
            // Several blocks of channels and of columns, and what is left of tiles
            MakeShape(2, 1, 70, 17, {{7, 3, 1, 1, 1}, {9, 3, 1, 1, 1}}),
            MakeShape(3, 1, 300, 9, {{7, 1, 1, 0, 1}, {7, 1, 1, 0, 1}}),
            // Strides: gradients by x of several blocks of channels, from weights as they are and from packed ones
            MakeShape(1, 1, 77, 70, {{9, 3, 2, 1, 1}, {11, 3, 2, 1, 1}}),
            MakeShape(6, 1, 77, 310, {{15, 3, 2, 1, 1}, {13, 1, 2, 0, 1}}),
            MakeShape(9, 2, 70, 20, {{8, 4, 2, 1, 1}, {30, 4, 3, 1, 2}}),
            MakeShape(2, 1, 36, 34, {{61, 6, 2, 2, 1}, {58, 6, 2, 2, 1}}),  // Winograd's algorithm for each phase
            MakeShape(2, 1, 3, 4, {{7, 3, 3, 1, 1}, {5, 2, 2, 0, 1}, {9, 3, 2, 1, 1}}),
            // One or two columns are left of vectors, with few weights and with many
            MakeShape(70, 1, 3, 10, {{3, 3, 1, 1, 1}, {3, 3, 1, 1, 1}}),
            MakeShape(20, 1, 37, 19, {{7, 3, 2, 1, 1}, {9, 3, 1, 1, 1}}),
            MakeShape(3, 1, 300, 21, {{65, 1, 1, 0, 1}}),
            MakeShape(2, 1, 40, 130, {{49, 1, 1, 0, 1}}),  // many rows, planes that are no multiple of a vector
            MakeShape(70, 1, 5, 11, {{1, 1, 1, 0, 1}}),
            MakeShape(1, 1, 3, 17, {{30, 7, 2, 3, 1}, {34, 7, 2, 3, 1}}),
            MakeShape(2, 16, 16, 16, {{9, 3, 1, 1, 1}, {11, 3, 1, 1, 1}}),
            MakeShape(2, 8, 8, 16, {{9, 5, 2, 2, 1}, {11, 5, 2, 2, 1}}),
            MakeShape(3, 40, 40, 40, {{19, 3, 1, 1, 1}, {21, 3, 2, 1, 1}}),  // some groups at a time
            MakeShape(2, 3, 6, 3, {{6, 3, 1, 1, 1}, {7, 3, 2, 1, 1}}),
            // Groups of few channels: windows of 3 x 3, strides, dilations, bands of rows, other numbers of dimensions
            MakeShape(2, 5, 5, 5, {{7, 3, 1, 1, 1}, {7, 3, 1, 1, 1}}),
            MakeShape(1, 3, 3, 3, {{14, 3, 2, 1, 1}, {15, 3, 2, 1, 1}}),
            MakeShape(1, 2, 2, 2, {{130, 3, 1, 1, 1}, {112, 3, 1, 1, 1}}),
            MakeShape(1, 2, 2, 2, {{131, 3, 2, 0, 1}, {113, 3, 2, 2, 1}}),
            MakeShape(1, 2, 2, 2, {{31, 3, 2, 0, 1}, {31, 3, 2, 0, 1}}),  // vectors that end with the image
            // Rows shorter than a vector, a little longer, and several bands
            MakeShape(2, 9, 9, 9, {{9, 3, 1, 1, 1}, {3, 3, 1, 1, 1}}),
            MakeShape(1, 9, 9, 9, {{6, 3, 1, 1, 1}, {1, 3, 1, 1, 1}}),
            MakeShape(2, 9, 9, 9, {{13, 3, 2, 1, 1}, {13, 3, 2, 1, 1}}),
            MakeShape(1, 9, 9, 9, {{12, 3, 2, 0, 1}, {38, 3, 2, 0, 1, 1}}),
            MakeShape(1, 2, 2, 2, {{150, 3, 1, 1, 1}, {125, 3, 1, 1, 1}}),
            MakeShape(2, 3, 3, 3, {{17, 3, 1, 2, 2}, {19, 3, 2, 2, 2}}),
            MakeShape(2, 3, 3, 3, {{16, 3, 1, 1, 1}, {33, 3, 2, 1, 1}}),
            MakeShape(2, 3, 3, 3, {{16, 3, 3, 1, 1}, {37, 3, 3, 1, 1}}),
            MakeShape(2, 4, 8, 8, {{9, 5, 1, 2, 1}, {18, 5, 1, 2, 1}}),
            MakeShape(2, 4, 4, 4, {{50, 7, 3, 2, 1}}),
            MakeShape(2, 4, 8, 8, {{1, 1, 1, 0, 1}}),
            MakeShape(2, 3, 3, 6, {{6, 3, 2, 1, 1}, {7, 3, 1, 1, 1}, {8, 3, 2, 1, 1}}),
            MakeShape(1, 3, 6, 3, {{5, 2, 1, 1, 2}, {4, 3, 1, 2, 1}, {3, 1, 1, 0, 1}, {9, 3, 2, 1, 1}}),
            MakeShape(1, 2, 4, 2, {{19, 17, 1, 8, 1}, {20, 17, 2, 8, 1}}),  // more taps than a block of packed weights
            MakeShape(1, 3, 3, 3, {{4, 3, 1, 9, 1}, {4, 3, 1, 9, 1}}),      // rows and columns of padding alone
            MakeShape(1, 3, 3, 3, {{40, 2, 1, 0, 13}, {40, 2, 5, 0, 13, 1}}),
            MakeShape(1, 1, 2, 3, {{9, 3, 1, 6, 6}, {40, 3, 1, 6, 6}}),
            // Winograd's algorithm: parts of tiles, sums in two parts, groups, padding beyond tiles, more outputs
            MakeShape(2, 1, 33, 40, {{21, 3, 1, 1, 1}, {23, 3, 1, 1, 1}}),
            MakeShape(1, 1, 150, 32, {{28, 3, 1, 1, 1}, {28, 3, 1, 1, 1}}),
            MakeShape(1, 2, 70, 66, {{30, 3, 1, 0, 1}, {33, 3, 1, 2, 1}}),
            MakeShape(12, 1, 32, 37, {{5, 3, 1, 3, 1}, {6, 3, 1, 6, 1}}),
            MakeShape(1, 1, 32, 32, {{9, 3, 1, 0, 1}, {120, 3, 1, 0, 1}}),
            MakeShape(1, 1, 32, 33, {{40, 3, 1, 1, 1, 1}, {22, 3, 1, 0, 1, 2}}),
            MakeShape(2, 1, 36, 44, {{11, 3, 1, 1, 1}, {12, 3, 1, 1, 1}}),  // few tiles
            MakeShape(1, 1, 2, 3, {{0, 3, 1, 2, 1}, {4, 3, 1, 1, 1}}),      // nothing but padding
            MakeShape(3, 1, 5, 4, {}),
            MakeShape(0, 1, 3, 4, {{5, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}),
            MakeShape(2, 1, 0, 4, {{5, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}),
            MakeShape(2, 1, 3, 0, {{5, 3, 1, 1, 1}, {5, 3, 1, 1, 1}}),
    };
    return shapes;
}

template <class T>
struct Kernels {
    void (*forward)(const ConvShape&, const T*, const T*, const T*, T*);
    void (*get_packed_size)(const ConvShape&, int64_t*);
    void (*pack)(const ConvShape&, const T*, T*);
    void (*forward_packed)(const ConvShape&, const T*, const T*, const T*, const T*, bool, T, T*);
    void (*data)(const ConvShape&, const T*, const T*, const T*, T*);
    void (*weight)(const ConvShape&, const T*, const T*, T*);
};

#define KERNELS(isa, T)                                                                                 \
    Kernels<T> {                                                                                        \
        isa::ConvForward<T>, isa::GetPackedSize<T>, isa::PackConvWeights<T>, isa::ConvForwardPacked<T>, \
                isa::ConvBackwardData<T>, isa::ConvBackwardWeight<T>                                    \
    }

// Packed weights, each choice of what follows, and the same weights for another batch.
template <class T>
void CheckPacked(const Kernels<T>& kernels, const ConvShape& s, const std::vector<T>& x, const std::vector<T>& w,
                 const std::vector<T>& bias, const std::vector<double>& y_expected, double tolerance) {
    int64_t size = -1;
    kernels.get_packed_size(s, &size);
    std::vector<T> packed(size);
    kernels.pack(s, w.data(), packed.data());
    auto addend = RandomVector<T>(y_expected.size(), 6);
    for (int choice = 0; choice < 16; ++choice) {
        bool has_bias = (choice & 1) != 0;
        bool has_addend = (choice & 2) != 0;
        bool relu = (choice & 4) != 0;
        T most = (choice & 8) != 0 ? T(1) : std::numeric_limits<T>::infinity();  // matters with relu only
        std::vector<double> expected = y_expected;
        for (size_t i = 0; i < expected.size(); ++i) {
            if (!has_bias) expected[i] -= bias[i / SpatialSize(s.out, s.ndim) % s.out_channels];
            if (has_addend) expected[i] += addend[i];
            if (relu) expected[i] = std::min(std::max(expected[i], 0.0), static_cast<double>(most));
        }
        std::vector<T> y(expected.size(), std::nan(""));
        kernels.forward_packed(s, x.data(), packed.data(), has_bias ? bias.data() : nullptr,
                               has_addend ? addend.data() : nullptr, relu, most, y.data());
        // Sums may be much larger than what the bias leaves of them.
        for (size_t i = 0; i < y.size(); ++i) {
            ASSERT_NEAR(y[i], expected[i], tolerance * (2 + std::abs(y_expected[i]))) << "choice " << choice;
        }
    }
}

template <class T>
void Check(const Kernels<T>& kernels) {
    int index = 0;
    for (const ConvShape& s : Shapes()) {
        SCOPED_TRACE(index++);
        auto products = static_cast<double>(s.in_channels / s.groups * SpatialSize(s.kernel, s.ndim));
        double tolerance = (sizeof(T) == 4 ? 5e-5 : 1e-13) * std::max(1.0, std::sqrt(products) / 16);
        auto x = RandomVector<T>(s.batch * s.in_channels * SpatialSize(s.in, s.ndim), 1);
        auto w = RandomVector<T>(s.out_channels * (s.in_channels / s.groups) * SpatialSize(s.kernel, s.ndim), 2);
        auto gy = RandomVector<T>(s.batch * s.out_channels * SpatialSize(s.out, s.ndim), 3);
        auto bias = RandomVector<T>(s.out_channels, 4);
        auto gx_bias = RandomVector<T>(s.in_channels, 5);
        std::vector<double> y_expected(gy.size());
        std::vector<double> gx_expected(x.size());
        std::vector<double> gw_expected(w.size());
        for (size_t i = 0; i < gy.size(); ++i) {
            y_expected[i] = bias[i / SpatialSize(s.out, s.ndim) % s.out_channels];
        }
        for (size_t i = 0; i < x.size(); ++i) {
            gx_expected[i] = gx_bias[i / SpatialSize(s.in, s.ndim) % s.in_channels];
        }
        VisitProducts(s, [&](int64_t xi, int64_t wi, int64_t yi) {
            y_expected[yi] += static_cast<double>(x[xi]) * w[wi];
            gx_expected[xi] += static_cast<double>(gy[yi]) * w[wi];
            gw_expected[wi] += static_cast<double>(gy[yi]) * x[xi];
        });
        std::vector<T> y(gy.size(), std::nan(""));
        kernels.forward(s, x.data(), w.data(), bias.data(), y.data());
        ExpectNear(y, y_expected, tolerance, "y");
        std::vector<T> gx(x.size(), std::nan(""));
        kernels.data(s, gy.data(), w.data(), gx_bias.data(), gx.data());
        ExpectNear(gx, gx_expected, tolerance, "gx");
        std::vector<T> gw(w.size(), std::nan(""));
        kernels.weight(s, x.data(), gy.data(), gw.data());
        ExpectNear(gw, gw_expected, tolerance, "gw");

        std::vector<T> plain(gy.size(), std::nan(""));
        kernels.forward(s, x.data(), w.data(), nullptr, plain.data());
        for (size_t i = 0; i < gy.size(); ++i) {
            ASSERT_NEAR(plain[i], y_expected[i] - bias[i / SpatialSize(s.out, s.ndim) % s.out_channels],
                        40 * tolerance);
        }
        if (w.size() > 0) CheckPacked(kernels, s, x, w, bias, y_expected, tolerance);
    }
}

template <class T>
class ConvTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ConvTest, Types);

TYPED_TEST(ConvTest, AllInstructionSets) {
    using T = TypeParam;
    int original = GetNumThreads();
    for (int threads : {1, 3}) {
        SetNumThreads(threads);
        Check<T>(KERNELS(base, T));
#if CHAINERX_ISA_X86
        if (GetIsa() >= Isa::kV3) {
            Check<T>(KERNELS(v3, T));
        }
        if (GetIsa() >= Isa::kV4) {
            Check<T>(KERNELS(v4, T));
        }
#endif
    }
    SetNumThreads(original);
}

}  // namespace
}  // namespace chainerx::native
