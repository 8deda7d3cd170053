#include "chainerx/backends/native/kernels/attention.h"

#include <limits>

#include "chainerx/backends/native/kernels/test_util.h"

namespace chainerx::native {
namespace {

using Vector = std::vector<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Index of element (b, i, j) of a contiguous stack of matrices.
int64_t At(int64_t rows, int64_t columns, int64_t b, int64_t i, int64_t j) { return (b * rows + i) * columns + j; }

// `bias` (queries, keys) is -inf where a query does not attend to a key.
Vector Attention(const AttentionSizes& s, const Vector& q, const Vector& k, const Vector& v, const Vector& bias) {
    Vector y(s.batch * s.queries * s.value_width);
    for (int64_t b = 0; b < s.batch; ++b) {
        for (int64_t i = 0; i < s.queries; ++i) {
            Vector weights(s.keys);
            double sum = 0;
            for (int64_t j = 0; j < s.keys; ++j) {
                double score = bias[i * s.keys + j];
                for (int64_t e = 0; e < s.width; ++e) {
                    score += s.scale * q[At(s.queries, s.width, b, i, e)] * k[At(s.keys, s.width, b, j, e)];
                }
                weights[j] = s.causal && j > i ? 0 : std::exp(score);
                sum += weights[j];
            }
            for (int64_t j = 0; j < s.keys && sum > 0; ++j) {
                for (int64_t d = 0; d < s.value_width; ++d) {
                    y[At(s.queries, s.value_width, b, i, d)] +=
                            weights[j] / sum * v[At(s.keys, s.value_width, b, j, d)];
                }
            }
        }
    }
    return y;
}

std::vector<int64_t> Offsets(int64_t batch, int64_t size) {
    std::vector<int64_t> offsets;
    for (int64_t b = 0; b < batch; ++b) {
        offsets.push_back(b * size);
    }
    return offsets;
}

template <class T>
class AttentionTest : public ::testing::Test {
protected:
    enum class MaskKind { kNone, kBool, kBias };

    void Check(const AttentionSizes& s, MaskKind kind) {
        auto q = RandomVector<T>(s.batch * s.queries * s.width, 1);
        auto k = RandomVector<T>(s.batch * s.keys * s.width, 2);
        auto v = RandomVector<T>(s.batch * s.keys * s.value_width, 3);
        auto gy = RandomVector<T>(s.batch * s.queries * s.value_width, 4);
        auto bias = RandomVector<T>(s.queries * s.keys, 5);
        std::unique_ptr<bool[]> allowed{new bool[s.queries * s.keys]};
        Vector reference(s.queries * s.keys);
        for (int64_t i = 0; i < s.queries * s.keys; ++i) {
            allowed[i] = i >= s.keys && i % 3 != 0;  // the first query attends to no key
            if (kind == MaskKind::kBool) {
                reference[i] = allowed[i] ? 0 : -kInf;
            } else if (kind == MaskKind::kBias) {
                reference[i] = bias[i];
            }
        }
        auto q_at = Offsets(s.batch, s.queries * s.width);
        auto k_at = Offsets(s.batch, s.keys * s.width);
        auto v_at = Offsets(s.batch, s.keys * s.value_width);
        auto y_at = Offsets(s.batch, s.queries * s.value_width);
        std::vector<int64_t> mask_at(s.batch);
        MatrixStack<const T> qs{q.data(), q_at.data(), s.width};
        MatrixStack<const T> ks{k.data(), k_at.data(), s.width};
        MatrixStack<const T> vs{v.data(), v_at.data(), s.value_width};
        MatrixStack<const T> gys{gy.data(), y_at.data(), s.value_width};
        AttentionMask<T> mask{};
        if (kind == MaskKind::kBool) {
            mask.allowed = {allowed.get(), mask_at.data(), s.keys};
        } else if (kind == MaskKind::kBias) {
            mask.bias = {bias.data(), mask_at.data(), s.keys};
        }
        Vector q_ = ToDouble(q);
        Vector k_ = ToDouble(k);
        Vector v_ = ToDouble(v);
        std::vector<T> y(gy.size());
        std::vector<T> log_sum(s.batch * s.queries);
        AttentionForward(s, qs, ks, vs, mask, y.data(), log_sum.data());
        ExpectClose(y, Attention(s, q_, k_, v_, reference), Tolerance<T>(), "y");

        std::vector<T> gq(q.size());
        std::vector<T> gk(k.size());
        std::vector<T> gv(v.size());
        AttentionBackward(s, qs, ks, vs, mask, log_sum.data(), gys, gq.data(), gk.data(), gv.data());
        Vector g = ToDouble(gy);
        ExpectClose(gq, NumericalGradient([&](const Vector& x) { return Attention(s, x, k_, v_, reference); }, q_, g),
                    1e-5, "gq");
        ExpectClose(gk, NumericalGradient([&](const Vector& x) { return Attention(s, q_, x, v_, reference); }, k_, g),
                    1e-5, "gk");
        ExpectClose(gv, NumericalGradient([&](const Vector& x) { return Attention(s, q_, k_, x, reference); }, v_, g),
                    1e-5, "gv");
    }

    void CheckMasks(AttentionSizes s) {
        for (MaskKind kind : {MaskKind::kNone, MaskKind::kBool, MaskKind::kBias}) {
            for (bool causal : {false, true}) {
                s.causal = causal;
                Check(s, kind);
            }
        }
    }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionTest, Types);

TYPED_TEST(AttentionTest, Small) { this->CheckMasks({2, 3, 5, 4, 6, 0.5, false}); }
TYPED_TEST(AttentionTest, MoreQueriesThanKeys) { this->CheckMasks({1, 6, 2, 1, 3, 1.5, false}); }
TYPED_TEST(AttentionTest, SeveralBlocks) { this->CheckMasks({1, 70, 3, 2, 1, 1, false}); }
TYPED_TEST(AttentionTest, NoKeys) {
    AttentionSizes s{2, 3, 0, 4, 2, 1, false};
    this->CheckMasks(s);
}

}  // namespace
}  // namespace chainerx::native
