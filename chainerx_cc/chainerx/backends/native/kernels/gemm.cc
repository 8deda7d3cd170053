#include "chainerx/backends/native/kernels/gemm.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#ifdef __linux__
#include <pthread.h>
#include <sys/mman.h>
#endif

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/blas.h"
#include "chainerx/backends/native/kernels/gemm_complex.h"
#include "chainerx/backends/native/kernels/gemm_grid.h"
#include "chainerx/backends/native/kernels/gemm_small.h"
#include "chainerx/backends/native/kernels/numbers.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

// CBLAS enumerators
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

template <class T>
struct Operand {
    bool trans;
    const T* data;
    int64_t ld;
    // The element (row, column) of op(X)
    const T* At(int64_t row, int64_t column) const { return data + (trans ? column * ld + row : row * ld + column); }
};

void BlasGemm(int ta, int tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb,
              float beta, float* c, int ldc) {
    GetBlas().cblas_sgemm(kRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void BlasGemm(int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b, int ldb,
              double beta, double* c, int ldc) {
    GetBlas().cblas_dgemm(kRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class R>
void BlasGemm(int ta, int tb, int m, int n, int k, std::complex<R> alpha, const std::complex<R>* a, int lda,
              const std::complex<R>* b, int ldb, std::complex<R> beta, std::complex<R>* c, int ldc) {
    auto gemm = std::is_same_v<R, float> ? GetBlas().cblas_cgemm : GetBlas().cblas_zgemm;
    gemm(kRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

void CheckBlasSizes(std::initializer_list<int64_t> sizes) {
    for (int64_t size : sizes) {
        if (size > std::numeric_limits<int>::max()) {
            throw std::invalid_argument{"matrix dimension " + std::to_string(size) +
                                        " exceeds the 32-bit integers of BLAS"};
        }
    }
}

// BLAS requires a leading dimension of at least the row length, even for a single row.
int LeadingDimension(int64_t ld, int64_t rows, int64_t columns) {
    return static_cast<int>(rows <= 1 ? std::max(ld, columns) : ld);
}

float BlasDot(int n, const float* x, int x_step, const float* y, int y_step) {
    return GetBlas().cblas_sdot(n, x, x_step, y, y_step);
}
double BlasDot(int n, const double* x, int x_step, const double* y, int y_step) {
    return GetBlas().cblas_ddot(n, x, x_step, y, y_step);
}

// Whether the functions of gemm_small.h are faster than OpenBLAS, as measured with AVX-512 and AVX2: for little work,
// for few rows of A (a small batch through a layer), and for short sums (the gradient of its weights).
bool PreferSmall(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k) {
    if (m == 1 || n == 1 || m * n * k <= 8 * 1024) {
        return true;
    }
    if (k <= 32) {
        return n >= 32 && k >= 8;
    }
    if (trans_b) {
        bool is_cheap = GetIsa() == Isa::kV3 && m <= 16 && k >= 128;
        return !trans_a && (is_cheap || (m <= 32 && k >= 512));
    }
    return m <= 64 && n >= 64;
}

// Multiplications of complex numbers up to which loops are faster than OpenBLAS.
constexpr int64_t kLittleComplexWork = 512;

bool HasMemoryForBlas() {
#ifdef __linux__
    constexpr size_t kBytes = size_t{40} << 20;  // more than a buffer has
    void* ptr = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr != MAP_FAILED && munmap(ptr, kBytes) == 0;
#else
    return true;
#endif
}

// Makes OpenBLAS take a buffer. It multiplies smaller matrices without one.
void TakeBlasBuffer() {
    constexpr int kSize = 128;
    static constexpr float kZeros[kSize * kSize]{};
    float out[kSize * kSize];
    BlasGemm(kNoTrans, kNoTrans, kSize, kSize, kSize, 1, kZeros, kSize, kZeros, kSize, 0, out, kSize);
}

// Buffers in use, and those that OpenBLAS should have.
std::atomic<int> used_blas_buffers{0};
std::atomic<int> blas_buffers{0};

// What holds calls back until it ends. A fork does: OpenBLAS locks its list of buffers, and a child that copies the
// lock while another thread holds it waits forever. The exit of the process does: OpenBLAS unmaps its buffers then,
// whether or not a thread computes in one.
std::atomic<int> holds{0};

thread_local bool ends_process = false;  // its destructors may still compute

// Holds calls back that start now, and waits for those that have begun.
void HoldBlas() {
    ++holds;
    while (used_blas_buffers.load() != 0) std::this_thread::yield();
}

bool MustWait() { return holds.load() != 0 && !ends_process; }

int UseBlasBuffer() {
    for (;;) {
        int n = ++used_blas_buffers;
        if (!MustWait()) return n;
        --used_blas_buffers;
        while (MustWait()) std::this_thread::yield();
    }
}

// Handlers of the exit run before a library's own end.
[[maybe_unused]] const int exit_handler = std::atexit([] {
    HoldBlas();
    ends_process = true;
});

#ifdef __linux__
int LetForksWait() {
    auto in_parent = [] { --holds; };
    auto in_child = [] {
        // Other threads may have begun forks, and calls that found this one and have not waited yet.
        holds.store(0);
        used_blas_buffers.store(0);
    };
    return pthread_atfork(HoldBlas, in_parent, in_child);
}
[[maybe_unused]] const int fork_handlers = LetForksWait();
#endif

// Chosen by the whole product: a block that chose for itself would round as no other block does.
enum class Routine { kDot, kSmall, kBlas };

template <class T>
Routine ChooseRoutine(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k) {
    if constexpr (!kIsReal<T>) return m * n * k <= kLittleComplexWork ? Routine::kSmall : Routine::kBlas;
    if (m == 1 && n == 1) return Routine::kDot;
    return PreferSmall(trans_a, trans_b, m, n, k) ? Routine::kSmall : Routine::kBlas;
}

template <class T>
void Serial(Routine routine, int64_t m, int64_t n, int64_t k, T alpha, const Operand<T>& a, const Operand<T>& b, T beta,
            T* c, int64_t ldc) {
    if constexpr (kIsReal<T>) {
        if (routine == Routine::kDot) {
            T sum = BlasDot(static_cast<int>(k), a.data, a.trans ? static_cast<int>(a.ld) : 1, b.data,
                            b.trans ? 1 : static_cast<int>(b.ld));
            *c = beta == T{0} ? alpha * sum : alpha * sum + beta * *c;
            return;
        }
    }
    auto small = [&] { GemmSmall(a.trans, b.trans, m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, c, ldc); };
    if (routine == Routine::kSmall) {
        small();
        return;
    }
    BlasBuffer buffer{};
    if (!buffer.available()) {
        small();  // slower, and without a buffer
        return;
    }
    BlasGemm(a.trans ? kTrans : kNoTrans, b.trans ? kTrans : kNoTrans, static_cast<int>(m), static_cast<int>(n),
             static_cast<int>(k), alpha, a.data, a.trans ? LeadingDimension(a.ld, k, m) : LeadingDimension(a.ld, m, k),
             b.data, b.trans ? LeadingDimension(b.ld, n, k) : LeadingDimension(b.ld, k, n), beta, c,
             LeadingDimension(ldc, m, n));
}

}  // namespace

BlasBuffer::BlasBuffer() {
    int n = UseBlasBuffer();
    int had = blas_buffers.load();
    available_ = n <= had || HasMemoryForBlas();
    if (n > had && available_) {
        TakeBlasBuffer();
        while (n > had && !blas_buffers.compare_exchange_weak(had, n)) {
        }
    }
}

BlasBuffer::~BlasBuffer() { --used_blas_buffers; }

void InitBlas() {
    static std::atomic<bool> done{false};
    if (done.load(std::memory_order_acquire)) return;
    // A child would wait forever for what another thread has begun to load, so a fork waits here, too.
    UseBlasBuffer();
    try {
        GetBlas();
    } catch (...) {
        --used_blas_buffers;
        throw;
    }
    --used_blas_buffers;
    done.store(true, std::memory_order_release);
}

template <class T>
void Gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, T beta, T* c, int64_t ldc) {
    if (m <= 0 || n <= 0) {
        return;
    }
    if (k <= 0 || alpha == T{0}) {
        for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                c[i * ldc + j] = beta == T{0} ? T{0} : beta * c[i * ldc + j];
            }
        }
        return;
    }
    CheckBlasSizes({m, n, k, lda, ldb, ldc});
    InitBlas();
    Operand<T> op_a{trans_a, a, lda};
    Operand<T> op_b{trans_b, b, ldb};
    constexpr double kMinWork = 1 << 18;  // multiply-adds that repay waking a thread
    int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
    threads = std::min<int64_t>(threads, static_cast<int64_t>(GetGemmWork(m, n, k) / kMinWork));
    Routine routine = ChooseRoutine<T>(trans_a, trans_b, m, n, k);
    if (threads <= 1) {
        Serial(routine, m, n, k, alpha, op_a, op_b, beta, c, ldc);
        return;
    }
    GemmGrid grid{m, n, k, threads, routine == Routine::kBlas ? GetBlasCuts<T>() : GemmCuts{}};
    ParallelFor(grid.size(), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            GemmGrid::Block block = grid.at(i);
            if (block.rows > 0 && block.columns > 0) {
                Serial(routine, block.rows, block.columns, k, alpha, Operand<T>{trans_a, op_a.At(block.row, 0), lda},
                       Operand<T>{trans_b, op_b.At(0, block.column), ldb}, beta, c + block.row * ldc + block.column,
                       ldc);
            }
        }
    });
}

template <class T>
void GemmBatched(bool trans_a, bool trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
                 int64_t lda, int64_t stride_a, const T* b, int64_t ldb, int64_t stride_b, T beta, T* c, int64_t ldc,
                 int64_t stride_c) {
    if (!trans_a && stride_b == 0 && stride_a == m * lda && stride_c == m * ldc) {
        Gemm(trans_a, trans_b, batch * m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
    constexpr int64_t kTiny = 1024;
    bool is_tiny = std::max({m, n, k}) <= kTiny && m * n * k <= kTiny && m * n > 1 && k > 0 && alpha != T{0};
    auto run = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const T* x = a + i * stride_a;
            const T* y = b + i * stride_b;
            if (is_tiny) {
                GemmSmall(trans_a, trans_b, m, n, k, alpha, x, lda, y, ldb, beta, c + i * stride_c, ldc);
            } else {
                Gemm(trans_a, trans_b, m, n, k, alpha, x, lda, y, ldb, beta, c + i * stride_c, ldc);
            }
        }
    };
    if (batch >= GetNumThreads()) {
        constexpr int64_t kMinWork = 1 << 15;
        ParallelFor(batch, std::max<int64_t>(1, kMinWork / std::max<int64_t>(1, m * n * k)), run);
    } else {
        run(0, batch);  // each product runs in parallel
    }
}

template <class T>
void GemmSum(int64_t m, int64_t n, const std::vector<GemmTerm<T>>& terms, T* c) {
    // GemmSmall sums these in one order for any number of rows. BLAS may round otherwise when it adds to C.
    bool has_one_order = std::all_of(terms.begin(), terms.end(), [m, n](const GemmTerm<T>& t) {
        return n > 1 && t.k > 0 && !t.trans_b && ChooseRoutine<T>(t.trans_a, false, m, n, t.k) == Routine::kSmall;
    });
    if (!has_one_order) {
        Scratch<T> product{m * n};
        for (size_t i = 0; i < terms.size(); ++i) {
            const GemmTerm<T>& t = terms[i];
            T* out = i == 0 ? c : product.data();
            Gemm(t.trans_a, t.trans_b, m, n, t.k, T{1}, t.a, t.lda, t.b, t.ldb, T{0}, out, n);
            for (int64_t j = 0; i > 0 && j < m * n; ++j) c[j] += product.data()[j];
        }
        return;
    }
    constexpr int64_t kCache = int64_t{1} << 17;  // bytes of a block of C
    int64_t rows = std::max<int64_t>(16, kCache / static_cast<int64_t>(sizeof(T)) / n / 16 * 16);
    ParallelFor((m + rows - 1) / rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin * rows; row < std::min(m, end * rows); row += rows) {
            T beta{0};
            for (const GemmTerm<T>& t : terms) {
                const T* a = Operand<T>{t.trans_a, t.a, t.lda}.At(row, 0);
                GemmSmall(t.trans_a, t.trans_b, std::min(rows, m - row), n, t.k, T{1}, a, t.lda, t.b, t.ldb, beta,
                          c + row * n, n);
                beta = T{1};
            }
        }
    });
}

#define CHAINERX_INSTANTIATE(T)                                                                                  \
    template void Gemm<T>(bool, bool, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, T, T*, \
                          int64_t);                                                                              \
    template void GemmBatched<T>(bool, bool, int64_t, int64_t, int64_t, int64_t, T, const T*, int64_t, int64_t,  \
                                 const T*, int64_t, int64_t, T, T*, int64_t, int64_t);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
CHAINERX_INSTANTIATE(std::complex<float>)
CHAINERX_INSTANTIATE(std::complex<double>)
#undef CHAINERX_INSTANTIATE
template void GemmSum<float>(int64_t, int64_t, const std::vector<GemmTerm<float>>&, float*);
template void GemmSum<double>(int64_t, int64_t, const std::vector<GemmTerm<double>>&, double*);

}  // namespace chainerx::native
