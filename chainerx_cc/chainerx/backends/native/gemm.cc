// Matrix products of arrays.

#include "chainerx/backends/native/kernels/gemm.h"

#include <algorithm>
#include <vector>

#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::native {
namespace {

struct Matrix {
    bool transposed;
    int64_t leading;
};

// How BLAS can read the last two dimensions, if it can.
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
    if (Describe(a, m)) return a;
    Array copy = Copy(a.AsDetached());
    Describe(copy, m);
    return copy;
}

template <class T>
void MultiplyFloat(const Array& a_, const Array& b_, double beta, const Array& out) {
    Matrix ma;
    Matrix mb;
    Array a = MakeReadable(a_, &ma);
    Array b = MakeReadable(b_, &mb);
    int n = out.ndim();
    int64_t rows = out.shape()[n - 2];
    int64_t columns = out.shape()[n - 1];
    int64_t inner = a.shape()[n - 1];
    int64_t batch = 1;
    for (int i = 0; i < n - 2; ++i) batch *= out.shape()[i];
    BlockingScope blocking{batch * rows * columns * inner > 262144};
    for (int64_t i = 0; i < batch; ++i) {
        int64_t offset_a = 0;
        int64_t offset_b = 0;
        int64_t rest = i;
        for (int d = n - 3; d >= 0; --d) {
            int64_t index = rest % out.shape()[d];
            rest /= out.shape()[d];
            offset_a += index * a.strides()[d];
            offset_b += index * b.strides()[d];
        }
        Gemm<T>(ma.transposed, mb.transposed, rows, columns, inner, T{1},
                reinterpret_cast<const T*>(a.raw_data() + offset_a), ma.leading,
                reinterpret_cast<const T*>(b.raw_data() + offset_b), mb.leading, static_cast<T>(beta),
                out.data<T>() + i * rows * columns, columns);
    }
}

// Integers and booleans: row by row.
template <class T>
void MultiplyInteger(const Array& a_, const Array& b_, double beta, const Array& out) {
    Array a = AsContiguous(a_.AsDetached());
    Array b = AsContiguous(b_.AsDetached());
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
            return MultiplyFloat<float>(a, b, beta, out);
        case Dtype::kFloat64:
            return MultiplyFloat<double>(a, b, beta, out);
        case Dtype::kFloat16: {
            Array wide = AsType(out, Dtype::kFloat32);
            MultiplyFloat<float>(AsType(a.AsDetached(), Dtype::kFloat32), AsType(b.AsDetached(), Dtype::kFloat32), beta,
                                 wide);
            return CopyData(wide, out);
        }
        default:
            return VisitDtype(out.dtype(), [&](auto tag) {
                using T = typename decltype(tag)::type;
                if constexpr (std::is_integral_v<T>) MultiplyInteger<T>(a, b, beta, out);
            });
    }
}

}  // namespace

void RegisterGemmKernels(Backend& backend) { kMatmulKernel.Register(backend, &Matmul); }

}  // namespace chainerx::native
