#include "chainerx/backends/native/kernels/gemm_packed.h"

#include <algorithm>

#include "chainerx/backends/native/kernels/gemm_small.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

constexpr int64_t kColumns = 64;  // of a panel
constexpr int64_t kDepth = 128;   // rows of a panel that stay in the first-level cache

}  // namespace

template <class T>
PackedMatrix<T>::PackedMatrix(bool trans, int64_t k, int64_t n, const T* b, int64_t ldb)
    : k_{k}, n_{n}, panels_{k * n} {
    ParallelFor((n + kColumns - 1) / kColumns, 1 + (1 << 15) / (k * kColumns + 1), [&](int64_t begin, int64_t end) {
        for (int64_t j = begin * kColumns; j < std::min(n, end * kColumns); j += kColumns) {
            int64_t width = std::min(kColumns, n - j);
            T* panel = panels_.data() + j * k;
            if (!trans) {
                for (int64_t q = 0; q < k; ++q) {
                    std::copy_n(b + q * ldb + j, width, panel + q * width);
                }
                continue;
            }
            constexpr int64_t kBlock = 16;
            for (int64_t first = 0; first < k; first += kBlock) {
                int64_t last = std::min(k, first + kBlock);
                for (int64_t i = 0; i < width; ++i) {
                    const T* row = b + (j + i) * ldb;
                    for (int64_t q = first; q < last; ++q) {
                        panel[q * width + i] = row[q];
                    }
                }
            }
        }
    });
}

template <class T>
void PackedMatrix<T>::Multiply(int64_t m, const T* a, int64_t lda, T beta, T* c, int64_t ldc) const {
    if (m == 0) {
        return;
    }
    constexpr int64_t kMinWork = 1 << 17;
    ParallelFor((n_ + kColumns - 1) / kColumns, 1 + kMinWork / (m * k_ * kColumns + 1),
                [&](int64_t begin, int64_t end) {
                    for (int64_t j = begin * kColumns; j < std::min(n_, end * kColumns); j += kColumns) {
                        int64_t width = std::min(kColumns, n_ - j);
                        const T* panel = panels_.data() + j * k_;
                        for (int64_t q = 0; q < k_; q += kDepth) {
                            GemmSmall<T>(false, false, m, width, std::min(kDepth, k_ - q), T{1}, a + q, lda,
                                         panel + q * width, width, q == 0 ? beta : T{1}, c + j, ldc);
                        }
                    }
                });
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace chainerx::native
