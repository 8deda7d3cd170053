// Matrix products of arrays.

#include "chainerx/backends/native/kernels/gemm.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "chainerx/backends/native/kernels/gemm_bf16.h"
#include "chainerx/backends/native/kernels/gemm_packed.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/packed_linear.h"

namespace chainerx::native {
namespace {

// The number of multiplications above which the interpreter lock is released.
constexpr int64_t kGemmBlocking = 262144;

struct Matrix {
    bool transposed;
    int64_t leading;
};

// The layout with which BLAS can read the last two dimensions, if any.
bool Describe(const Array& a, Matrix* m) {
    int n = a.ndim();
    int64_t item = a.GetItemSize();
    int64_t rows = a.shape()[n - 2];
    int64_t columns = a.shape()[n - 1];
    int64_t row_stride = a.strides()[n - 2];
    int64_t column_stride = a.strides()[n - 1];
    auto fits = [item](int64_t unit, int64_t unit_length, int64_t lead, int64_t lead_length, int64_t* out) {
        if (unit != item && unit_length > 1) return false;
        if (lead_length <= 1) {
            *out = std::max<int64_t>(unit_length, 1);
            return true;
        }
        if (lead % item != 0 || lead / item < std::max<int64_t>(unit_length, 1)) return false;
        *out = lead / item;
        return true;
    };
    if (fits(column_stride, columns, row_stride, rows, &m->leading)) {
        m->transposed = false;
        return true;
    }
    m->transposed = true;
    return fits(row_stride, rows, column_stride, columns, &m->leading);
}

Array MakeReadable(const Array& a, Matrix* m) {
    bool steps_over_items = true;
    for (int64_t stride : a.strides()) steps_over_items = steps_over_items && stride % a.GetItemSize() == 0;
    if (steps_over_items && Describe(a, m)) return a;
    Array copy = MakeContiguousCopy(a, a.dtype());
    Describe(copy, m);
    return copy;
}

// A loop over products: steps between the elements of both operands.
struct Loop {
    int64_t count;
    int64_t step_a;
    int64_t step_b;
};

// The loops over leading dimensions, innermost first. Merges dimensions whose steps allow it.
std::vector<Loop> MakeLoops(const Array& a, const Array& b) {
    int64_t item = a.GetItemSize();
    std::vector<Loop> loops;
    for (int d = a.ndim() - 3; d >= 0; --d) {
        Loop loop{a.shape()[d], a.strides()[d] / item, b.strides()[d] / item};
        if (loop.count == 1) continue;
        if (!loops.empty() && loop.step_a == loops.back().count * loops.back().step_a &&
            loop.step_b == loops.back().count * loops.back().step_b) {
            loops.back().count *= loop.count;
        } else {
            loops.push_back(loop);
        }
    }
    if (loops.empty()) loops.push_back({1, 0, 0});
    return loops;
}

void MultiplyBatch(bool trans_a, bool trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, const Bfloat16* a,
                   int64_t lda, int64_t stride_a, const Bfloat16* b, int64_t ldb, int64_t stride_b, double beta,
                   Bfloat16* c, int64_t ldc, int64_t stride_c) {
    auto bits = [](const Bfloat16* p) { return reinterpret_cast<const uint16_t*>(p); };
    GemmBf16Batched(batch, m, n, k, {trans_a, bits(a), lda}, stride_a, {trans_b, bits(b), ldb}, stride_b,
                    static_cast<float>(beta), reinterpret_cast<uint16_t*>(c), ldc, stride_c);
}

template <class T>
void MultiplyBatch(bool trans_a, bool trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
                   int64_t stride_a, const T* b, int64_t ldb, int64_t stride_b, double beta, T* c, int64_t ldc,
                   int64_t stride_c) {
    GemmBatched<T>(trans_a, trans_b, batch, m, n, k, T{1}, a, lda, stride_a, b, ldb, stride_b, static_cast<T>(beta), c,
                   ldc, stride_c);
}

template <class T>
void MultiplyInexact(const Array& a_, const Array& b_, double beta, const Array& out) {
    Matrix ma;
    Matrix mb;
    Array a = MakeReadable(a_, &ma);
    Array b = MakeReadable(b_, &mb);
    int n = out.ndim();
    int64_t rows = out.shape()[n - 2];
    int64_t columns = out.shape()[n - 1];
    int64_t inner = a.shape()[n - 1];
    int64_t batch = out.GetTotalSize() / (rows * columns);
    std::vector<Loop> loops = MakeLoops(a, b);
    const Loop& inner_loop = loops.front();
    BlockingScope blocking{batch * rows * columns * inner > kGemmBlocking};
    for (int64_t i = 0; i < batch; i += inner_loop.count) {
        int64_t offset_a = 0;
        int64_t offset_b = 0;
        int64_t rest = i / inner_loop.count;
        for (size_t d = 1; d < loops.size(); ++d) {
            int64_t index = rest % loops[d].count;
            rest /= loops[d].count;
            offset_a += index * loops[d].step_a;
            offset_b += index * loops[d].step_b;
        }
        MultiplyBatch(ma.transposed, mb.transposed, inner_loop.count, rows, columns, inner, a.data<T>() + offset_a,
                      ma.leading, inner_loop.step_a, b.data<T>() + offset_b, mb.leading, inner_loop.step_b, beta,
                      out.data<T>() + i * rows * columns, columns, rows * columns);
    }
}

// Integers and booleans: row by row.
template <class T>
void MultiplyInteger(const Array& a_, const Array& b_, double beta, const Array& out) {
    Array a = Contiguous(a_);
    Array b = Contiguous(b_);
    int n = out.ndim();
    int64_t rows = out.shape()[n - 2];
    int64_t columns = out.shape()[n - 1];
    int64_t inner = a.shape()[n - 1];
    int64_t batch = out.GetTotalSize() / std::max<int64_t>(rows * columns, 1);
    for (int64_t i = 0; i < batch * rows; ++i) {
        T* c = out.data<T>() + i * columns;
        if (beta == 0) std::fill_n(c, columns, T{});
        const T* x = a.data<T>() + i * inner;
        const T* y = b.data<T>() + i / rows * inner * columns;
        for (int64_t k = 0; k < inner; ++k) {
            for (int64_t j = 0; j < columns; ++j) {
                if constexpr (std::is_same_v<T, bool>) {
                    c[j] = c[j] || (x[k] && y[k * columns + j]);
                } else {
                    c[j] = static_cast<T>(c[j] + x[k] * y[k * columns + j]);
                }
            }
        }
    }
}

void Matmul(const Array& a, const Array& b, double beta, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    switch (out.dtype()) {
        case Dtype::kFloat32:
            return MultiplyInexact<float>(a, b, beta, out);
        case Dtype::kFloat64:
            return MultiplyInexact<double>(a, b, beta, out);
        case Dtype::kComplex64:
            return MultiplyInexact<std::complex<float>>(a, b, beta, out);
        case Dtype::kComplex128:
            return MultiplyInexact<std::complex<double>>(a, b, beta, out);
        case Dtype::kBfloat16:
            if (HasBf16()) return MultiplyInexact<Bfloat16>(a, b, beta, out);
            [[fallthrough]];
        case Dtype::kFloat16: {
            Array wide = MakeContiguousCopy(out, Dtype::kFloat32);
            MultiplyInexact<float>(Input(a, Dtype::kFloat32), Input(b, Dtype::kFloat32), beta, wide);
            return CopyData(wide, out);
        }
        default:
            return VisitDtype(out.dtype(), [&](auto tag) {
                using T = typename decltype(tag)::type;
                if constexpr (std::is_integral_v<T>) MultiplyInteger<T>(a, b, beta, out);
            });
    }
}

void MatmulSum(const std::vector<Array>& a, const std::vector<Array>& b, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int64_t rows = out.shape()[0];
    int64_t columns = out.shape()[1];
    VisitComputeDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::vector<Array> operands;  // of which some are copies
        std::vector<GemmTerm<T>> terms;
        operands.reserve(2 * a.size());
        terms.reserve(a.size());
        int64_t work = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            Matrix ma;
            Matrix mb;
            const Array& x = operands.emplace_back(MakeReadable(a[i], &ma));
            const T* x_data = x.data<T>();
            int64_t inner = x.shape()[1];
            const T* y_data = operands.emplace_back(MakeReadable(b[i], &mb)).template data<T>();
            terms.push_back({ma.transposed, x_data, ma.leading, mb.transposed, y_data, mb.leading, inner});
            work += rows * columns * inner;
        }
        BlockingScope blocking{work > kGemmBlocking};
        GemmSum<T>(rows, columns, terms, out.data<T>());
    });
}

template <class T>
class NativeWeights final : public PackedWeights {
public:
    NativeWeights(const Array& w, const Matrix& layout)
        : inner_{w.shape()[0]},
          columns_{w.shape()[1]},
          packed_{layout.transposed, inner_, columns_, w.data<T>(), layout.leading} {}

    void Run(const Array& x, const Array& bias, bool use_relu, const Array& y) const override {
        int64_t rows = x.GetTotalSize() / inner_;
        BlockingScope blocking{rows * inner_ * columns_ > kGemmBlocking};
        packed_.Multiply(
                {rows, x.data<T>(), inner_, false, bias ? bias.data<T>() : nullptr, use_relu, y.data<T>(), columns_});
    }

private:
    int64_t inner_;
    int64_t columns_;
    PackedMatrix<T> packed_;
};

std::unique_ptr<PackedWeights> PackWeights(const Array& w_) {
    if (w_.GetTotalSize() == 0) return nullptr;
    Matrix layout;
    Array w = MakeReadable(w_, &layout);
    BlockingScope blocking{w.GetTotalSize() > kGemmBlocking};
    if (w.dtype() == Dtype::kFloat32) return std::make_unique<NativeWeights<float>>(w, layout);
    if (w.dtype() == Dtype::kFloat64) return std::make_unique<NativeWeights<double>>(w, layout);
    return nullptr;
}

}  // namespace

const NativeKernels g_gemm_kernels{[](Backend& backend) {
    kMatmulKernel.Register(backend, &Matmul);
    kMatmulSumKernel.Register(backend, &MatmulSum);
    kPackWeightsKernel.Register(backend, &PackWeights);
}};

}  // namespace chainerx::native
