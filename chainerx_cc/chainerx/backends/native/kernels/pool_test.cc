#include "chainerx/backends/native/kernels/pool.h"

#include <limits>

#include "chainerx/backends/native/kernels/im2col.h"
#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx::native {
namespace {

struct Dim {
    int64_t in, kernel, stride, pad, out;
    int64_t dilation = 1;
};

ConvShape MakeShape(int64_t batch, int64_t channels, const std::vector<Dim>& dims) {
    ConvShape s{};
    s.ndim = static_cast<int>(dims.size());
    s.batch = batch;
    s.in_channels = channels;
    for (int d = 0; d < s.ndim; ++d) {
        s.in[d] = dims[d].in;
        s.kernel[d] = dims[d].kernel;
        s.stride[d] = dims[d].stride;
        s.pad[d] = dims[d].pad;
        s.out[d] = dims[d].out;
        s.dilation[d] = dims[d].dilation;
    }
    return s;
}

const std::vector<ConvShape>& Shapes() {
    static const std::vector<ConvShape> shapes{
            MakeShape(2, 3, {{8, 2, 2, 0, 4}, {6, 2, 2, 0, 3}}),
            MakeShape(2, 3, {{7, 3, 2, 1, 4}, {40, 3, 2, 1, 20}}),
            MakeShape(1, 2, {{7, 2, 2, 0, 4}, {5, 2, 2, 0, 3}}),  // hanging over the end
            MakeShape(1, 2, {{5, 3, 1, 1, 5}, {33, 3, 1, 1, 33}}),
            MakeShape(1, 2, {{9, 3, 3, 0, 3}}),
            MakeShape(2, 3, {{7, 7, 1, 0, 1}, {5, 5, 3, 0, 1}}),  // one window over the whole image
            MakeShape(1, 2, {{5, 2, 1, 1, 6}, {4, 2, 2, 1, 3}, {6, 3, 2, 0, 2}}),
            MakeShape(1, 2, {{3, 2, 2, 2, 4}, {3, 2, 2, 0, 1}}),  // a window wholly in the padding
            MakeShape(2, 2, {{9, 3, 1, 2, 9, 2}, {8, 2, 3, 1, 3, 1}}),
    };
    return shapes;
}

int64_t InSize(const ConvShape& s) { return SpatialSize(s.in, s.ndim); }
int64_t OutSize(const ConvShape& s) { return SpatialSize(s.out, s.ndim); }
int64_t Taps(const ConvShape& s) { return SpatialSize(s.kernel, s.ndim); }

// The offset in the image of a window's element, or -1 outside.
int64_t Input(const ConvShape& s, int64_t out, int64_t tap) {
    int64_t index = 0;
    int64_t scale = 1;
    for (int d = s.ndim - 1; d >= 0; --d) {
        int64_t i = out % s.out[d] * s.stride[d] - s.pad[d] + tap % s.kernel[d] * s.dilation[d];
        if (i < 0 || i >= s.in[d]) {
            return -1;
        }
        index += i * scale;
        scale *= s.in[d];
        out /= s.out[d];
        tap /= s.kernel[d];
    }
    return index;
}

template <class T>
class PoolTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PoolTest, Types);

TYPED_TEST(PoolTest, Max) {
    using T = TypeParam;
    for (const ConvShape& s : Shapes()) {
        int64_t planes = s.batch * s.in_channels;
        auto x = RandomVector<T>(planes * InSize(s), 1);
        x[1] = std::numeric_limits<T>::quiet_NaN();
        x[2] = x[0];
        auto gy = RandomVector<T>(planes * OutSize(s), 2);
        std::vector<T> y(gy.size());
        std::vector<int64_t> index(gy.size());
        MaxPoolForward(s, x.data(), y.data(), index.data());
        std::vector<double> gx_expected(x.size());
        for (int64_t plane = 0; plane < planes; ++plane) {
            for (int64_t o = 0; o < OutSize(s); ++o) {
                T best = -std::numeric_limits<T>::infinity();
                int64_t where = -1;
                for (int64_t t = 0; t < Taps(s); ++t) {
                    int64_t i = Input(s, o, t);
                    if (i < 0) {
                        continue;
                    }
                    T value = x[plane * InSize(s) + i];
                    if (where < 0 || value > best || (std::isnan(value) && !std::isnan(best))) {
                        best = value;
                        where = i;
                    }
                }
                int64_t at = plane * OutSize(s) + o;
                ASSERT_EQ(index[at], where);
                ASSERT_TRUE(y[at] == best || (std::isnan(y[at]) && std::isnan(best)));
                if (where >= 0) {
                    gx_expected[plane * InSize(s) + where] += gy[at];
                }
            }
        }
        std::vector<T> without_index(y.size());
        MaxPoolForward<T>(s, x.data(), without_index.data(), nullptr);
        for (size_t i = 0; i < y.size(); ++i) {
            ASSERT_TRUE(without_index[i] == y[i] || (std::isnan(without_index[i]) && std::isnan(y[i])));
        }
        std::vector<T> gx(x.size());
        MaxPoolBackward(s, gy.data(), index.data(), gx.data());
        ExpectClose(gx, gx_expected, Tolerance<T>(), "gx");
    }
}

TYPED_TEST(PoolTest, Average) {
    using T = TypeParam;
    for (const ConvShape& s : Shapes()) {
        for (PoolPadding padding : {PoolPadding::kZero, PoolPadding::kIgnore}) {
            int64_t planes = s.batch * s.in_channels;
            auto x = RandomVector<T>(planes * InSize(s), 1);
            auto gy = RandomVector<T>(planes * OutSize(s), 2);
            std::vector<double> y_expected(gy.size());
            std::vector<double> gx_expected(x.size());
            for (int64_t at = 0; at < planes * OutSize(s); ++at) {
                int64_t plane = at / OutSize(s);
                double count = 0;
                for (int64_t t = 0; t < Taps(s); ++t) {
                    count += padding == PoolPadding::kZero || Input(s, at % OutSize(s), t) >= 0;
                }
                for (int64_t t = 0; t < Taps(s); ++t) {
                    int64_t i = Input(s, at % OutSize(s), t);
                    if (i >= 0) {
                        y_expected[at] += x[plane * InSize(s) + i] / count;
                        gx_expected[plane * InSize(s) + i] += gy[at] / count;
                    }
                }
            }
            std::vector<T> y(gy.size());
            std::vector<T> gx(x.size());
            AveragePoolForward(s, padding, x.data(), y.data());
            AveragePoolBackward(s, padding, gy.data(), gx.data());
            ExpectClose(y, y_expected, Tolerance<T>(), "y");
            ExpectClose(gx, gx_expected, Tolerance<T>(), "gx");
        }
    }
}

TYPED_TEST(PoolTest, Im2ColAndBack) {
    using T = TypeParam;
    for (const ConvShape& s : Shapes()) {
        int64_t planes = s.batch * s.in_channels;
        auto x = RandomVector<T>(planes * InSize(s), 1);
        std::vector<T> col(planes * Taps(s) * OutSize(s));
        Im2Col(s, T{7}, x.data(), col.data());
        std::vector<double> back(x.size());
        for (size_t i = 0; i < col.size(); ++i) {
            auto at = static_cast<int64_t>(i);
            int64_t plane = at / (Taps(s) * OutSize(s));
            int64_t input = Input(s, at % OutSize(s), at / OutSize(s) % Taps(s));
            ASSERT_EQ(col[i], input < 0 ? T{7} : x[plane * InSize(s) + input]);
            if (input >= 0) {
                back[plane * InSize(s) + input] += col[i];
            }
        }
        std::vector<T> gx(x.size());
        Col2Im(s, col.data(), gx.data());
        ExpectClose(gx, back, Tolerance<T>(), "col2im");
    }
}

}  // namespace
}  // namespace chainerx::native
