#include "chainerx/backends/native/kernels/rnn.h"

#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx::native {
namespace {

using Vector = std::vector<double>;

constexpr int64_t kBatch = 3;
constexpr int64_t kUnits = 19;
constexpr int64_t kSize = kBatch * kUnits;

GateLayout Blocks(int64_t gates) { return {gates * kUnits, 1, {0, kUnits, 2 * kUnits, 3 * kUnits}}; }
GateLayout Interleaved() { return {4 * kUnits, 4, {0, 1, 2, 3}}; }

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

int64_t At(const GateLayout& layout, int gate, int64_t i) {
    return i / kUnits * layout.row + layout.gate[gate] + i % kUnits * layout.unit;
}

// c, then h
Vector Lstm(const GateLayout& l, const Vector& x, const Vector& c_prev) {
    Vector out(2 * kSize);
    for (int64_t i = 0; i < kSize; ++i) {
        double c = Sigmoid(x[At(l, 2, i)]) * c_prev[i] + Sigmoid(x[At(l, 1, i)]) * std::tanh(x[At(l, 0, i)]);
        out[i] = c;
        out[kSize + i] = Sigmoid(x[At(l, 3, i)]) * std::tanh(c);
    }
    return out;
}

Vector Gru(const GateLayout& l, const Vector& x, const Vector& s, const Vector& h) {
    Vector out(kSize);
    for (int64_t i = 0; i < kSize; ++i) {
        double r = Sigmoid(x[At(l, 0, i)] + s[At(l, 0, i)]);
        double z = Sigmoid(x[At(l, 1, i)] + s[At(l, 1, i)]);
        double a = std::tanh(x[At(l, 2, i)] + r * s[At(l, 2, i)]);
        out[i] = (1 - z) * a + z * h[i];
    }
    return out;
}

template <class T>
class RnnTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RnnTest, Types);

TYPED_TEST(RnnTest, Lstm) {
    using T = TypeParam;
    for (const GateLayout& layout : {Blocks(4), Interleaved()}) {
        auto x = RandomVector<T>(4 * kSize, 1, 2);
        auto c_prev = RandomVector<T>(kSize, 2);
        auto g = RandomVector<T>(2 * kSize, 3);
        std::vector<T> out(2 * kSize);
        LstmForward(kBatch, kUnits, layout, x.data(), c_prev.data(), out.data(), out.data() + kSize);
        ExpectClose(out, Lstm(layout, ToDouble(x), ToDouble(c_prev)), Tolerance<T>(), "forward");
        for (int present = 0; present < 4; ++present) {
            const T* gc = (present & 1) != 0 ? g.data() : nullptr;
            const T* gh = (present & 2) != 0 ? g.data() + kSize : nullptr;
            Vector gy(2 * kSize);
            for (int64_t i = 0; i < kSize; ++i) {
                gy[i] = gc != nullptr ? gc[i] : 0;
                gy[kSize + i] = gh != nullptr ? gh[i] : 0;
            }
            std::vector<T> gx(4 * kSize);
            std::vector<T> gc_prev(kSize);
            LstmBackward(kBatch, kUnits, layout, x.data(), c_prev.data(), out.data(), gc, gh, gx.data(),
                         gc_prev.data());
            Vector c_prev_ = ToDouble(c_prev);
            Vector x_ = ToDouble(x);
            ExpectClose(gx, NumericalGradient([&](const Vector& v) { return Lstm(layout, v, c_prev_); }, x_, gy), 1e-5,
                        "gx");
            ExpectClose(gc_prev, NumericalGradient([&](const Vector& v) { return Lstm(layout, x_, v); }, c_prev_, gy),
                        1e-5, "gc");
        }
    }
}

TYPED_TEST(RnnTest, Gru) {
    using T = TypeParam;
    GateLayout layout = Blocks(3);
    auto x = RandomVector<T>(3 * kSize, 1, 2);
    auto s = RandomVector<T>(3 * kSize, 2, 2);
    auto h_prev = RandomVector<T>(kSize, 3);
    auto gh = RandomVector<T>(kSize, 4);
    std::vector<T> h(kSize);
    Vector x_ = ToDouble(x);
    Vector s_ = ToDouble(s);
    Vector h_ = ToDouble(h_prev);
    GruForward(kBatch, kUnits, layout, x.data(), s.data(), h_prev.data(), h.data());
    ExpectClose(h, Gru(layout, x_, s_, h_), Tolerance<T>(), "h");
    std::vector<T> gx(3 * kSize);
    std::vector<T> gs(3 * kSize);
    std::vector<T> gh_prev(kSize);
    GruBackward(kBatch, kUnits, layout, x.data(), s.data(), h_prev.data(), gh.data(), gx.data(), gs.data(),
                gh_prev.data());
    Vector gy = ToDouble(gh);
    ExpectClose(gx, NumericalGradient([&](const Vector& v) { return Gru(layout, v, s_, h_); }, x_, gy), 1e-5, "gx");
    ExpectClose(gs, NumericalGradient([&](const Vector& v) { return Gru(layout, x_, v, h_); }, s_, gy), 1e-5, "gs");
    ExpectClose(gh_prev, NumericalGradient([&](const Vector& v) { return Gru(layout, x_, s_, v); }, h_, gy), 1e-5,
                "gh");
}

TYPED_TEST(RnnTest, Simple) {
    using T = TypeParam;
    auto x = RandomVector<T>(kSize, 1, 2);
    auto gy = RandomVector<T>(kSize, 2);
    for (bool relu : {false, true}) {
        auto f = [relu](const Vector& v) {
            Vector y(v.size());
            for (size_t i = 0; i < v.size(); ++i) {
                y[i] = relu ? std::max(v[i], 0.0) : std::tanh(v[i]);
            }
            return y;
        };
        std::vector<T> y(kSize);
        std::vector<T> gx(kSize);
        SimpleRnnForward<T>(kSize, relu, x.data(), y.data());
        ExpectClose(y, f(ToDouble(x)), Tolerance<T>(), "y");
        SimpleRnnBackward<T>(kSize, relu, y.data(), gy.data(), gx.data());
        ExpectClose(gx, NumericalGradient(f, ToDouble(x), ToDouble(gy)), 1e-5, "gx");
    }
}

// Parts of a cell with 2 inputs, 3 children and 2 output gates, one after the other in `unit` interleaved parts.
struct TreeLayout {
    static constexpr int kParts = 2 + 2 + 3 + 3 + 2;
    int64_t units;
    bool interleaved;

    int64_t At(int part, int64_t b, int64_t u) const {
        return b * kParts * units + (interleaved ? u * kParts + part : part * units + u);
    }
    template <class T>
    std::vector<CellPart<T>> Make(T* data) const {
        std::vector<CellPart<T>> parts;
        for (int i = 0; i < kParts; ++i) {
            parts.push_back({data + At(i, 0, 0), kParts * units, interleaved ? int64_t{kParts} : int64_t{1}});
        }
        return parts;
    }
};

template <class T>
TreeParts<T> Point(const std::vector<CellPart<T>>& p) {
    return {2, 3, 2, &p[0], &p[2], &p[4], &p[7], &p[10]};
}

// c, then h
Vector Tree(const TreeLayout& l, const Vector& x) {
    Vector out(2 * kBatch * l.units);
    for (int64_t b = 0; b < kBatch; ++b) {
        for (int64_t u = 0; u < l.units; ++u) {
            auto at = [&](int part) { return x[l.At(part, b, u)]; };
            double c = 0;
            for (int j = 0; j < 2; ++j) {
                c += std::tanh(at(j)) * Sigmoid(at(2 + j));
            }
            for (int k = 0; k < 3; ++k) {
                c += Sigmoid(at(4 + k)) * at(7 + k);
            }
            out[b * l.units + u] = c;
            out[(kBatch + b) * l.units + u] = Sigmoid(at(10) + at(11)) * std::tanh(c);
        }
    }
    return out;
}

TYPED_TEST(RnnTest, TreeLstm) {
    using T = TypeParam;
    for (const TreeLayout& layout : {TreeLayout{5, false}, TreeLayout{5, true}, TreeLayout{300, false}}) {
        int64_t size = kBatch * layout.units;
        auto x = RandomVector<T>(TreeLayout::kParts * size, 1);
        auto g = RandomVector<T>(2 * size, 2);
        std::vector<T> out(2 * size);
        auto parts = layout.template Make<const T>(x.data());
        TreeLstmForward<T>(kBatch, layout.units, Point(parts), out.data(), out.data() + size);
        ExpectClose(out, Tree(layout, ToDouble(x)), Tolerance<T>(), "forward");
        if (layout.units > 100) {
            continue;  // numerical gradients take long
        }
        for (int present = 0; present < 4; ++present) {
            const T* gc = (present & 1) != 0 ? g.data() : nullptr;
            const T* gh = (present & 2) != 0 ? g.data() + size : nullptr;
            Vector gy(2 * size);
            for (int64_t i = 0; i < size; ++i) {
                gy[i] = gc != nullptr ? gc[i] : 0;
                gy[size + i] = gh != nullptr ? gh[i] : 0;
            }
            std::vector<T> gx(x.size());
            auto targets = layout.template Make<T>(gx.data());
            TreeLstmBackward<T>(kBatch, layout.units, Point(parts), out.data(), gc, gh, Point(targets));
            ExpectClose(gx, NumericalGradient([&](const Vector& v) { return Tree(layout, v); }, ToDouble(x), gy), 1e-5,
                        "gx");
        }
    }
}

}  // namespace
}  // namespace chainerx::native
