// Solutions and factorizations of stacks of matrices by LAPACK.

#include "chainerx/ops/factorization.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/lapack.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"

// Calls the routine of T.
#define CHAINERX_LAPACK(T, name, ...)               \
    do {                                            \
        if constexpr (std::is_same_v<T, float>) {   \
            CHAINERX_BLAS(s##name##_)(__VA_ARGS__); \
        } else {                                    \
            CHAINERX_BLAS(d##name##_)(__VA_ARGS__); \
        }                                           \
    } while (false)

namespace chainerx::native {
namespace {

// Operations above which other Python threads are let in.
constexpr double kBlocking = 262144;
// Operations that repay handing matrices to a thread, and those that a call of LAPACK costs in any case.
constexpr double kGrain = 100000;
constexpr double kCall = 1000;

// A size as LAPACK takes it.
int ToInt(int64_t n) {
    if (n > std::numeric_limits<int>::max()) throw DimensionError{"a matrix with a side of ", n, " is too large"};
    return static_cast<int>(n);
}

// The sizes of a stack of matrices.
struct Stack {
    explicit Stack(const Array& a)
        : m{ToInt(a.shape()[a.ndim() - 2])}, n{ToInt(a.shape().back())}, k{std::min(m, n)}, count{1} {
        for (int i = 0; i < a.ndim() - 2; ++i) count *= a.shape()[i];
    }
    int64_t size() const { return int64_t{m} * n; }
    // n^3 for a square matrix.
    double work() const { return static_cast<double>(size()) * k; }

    int m;
    int n;
    int k;
    int64_t count;
};

// Calls f(TypeTag<T>{}) with float or double.
template <class F>
void Visit(const Array& a, F&& f) {
    if (a.dtype() == Dtype::kFloat32) {
        f(TypeTag<float>{});
    } else {
        f(TypeTag<double>{});
    }
}

// Calls f(begin, end) for ranges of the matrices, over the thread pool where it pays. `work`: operations for each one.
template <class F>
void ForMatrices(const Stack& s, double work, F&& f) {
    InitBlas();
    work += kCall;
    BlockingScope blocking{work * static_cast<double>(s.count) > kBlocking};
    ParallelFor(s.count, std::max<int64_t>(1, static_cast<int64_t>(kGrain / work)), f);
}

// dst (columns, rows) = src (rows, columns) transposed: between the order of rows and LAPACK's order of columns.
template <class T>
void Transpose(const T* src, int rows, int columns, T* dst) {
    constexpr int kBlock = 16;
    for (int i0 = 0; i0 < rows; i0 += kBlock) {
        int i1 = std::min(rows, i0 + kBlock);
        for (int j0 = 0; j0 < columns; j0 += kBlock) {
            int j1 = std::min(columns, j0 + kBlock);
            for (int j = j0; j < j1; ++j) {
                for (int i = i0; i < i1; ++i) dst[int64_t{j} * rows + i] = src[int64_t{i} * columns + j];
            }
        }
    }
}

template <class T>
void SetIdentity(T* a, int n) {
    std::fill_n(a, int64_t{n} * n, T{0});
    for (int i = 0; i < n; ++i) a[int64_t{i} * n + i] = 1;
}

// The length of a workspace, from the number that LAPACK answers.
template <class T>
int WorkLength(const char* name, T answer) {
    // A float may be rounded down.
    double length = std::ceil(static_cast<double>(answer) * (1 + std::numeric_limits<T>::epsilon()));
    if (!(length <= std::numeric_limits<int>::max())) throw DimensionError{name, ": the matrix is too large"};
    return std::max(static_cast<int>(length), 1);
}

// Elements of iterative algorithms: those may not end for others.
template <class T>
bool AreFinite(const T* a, int64_t n) {
    T sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i] * 0;
    return sum == 0;
}

void Solve(const Array& a, const Array& b, const Array& x) {
    if (x.GetTotalSize() == 0) return;
    Stack s{a};
    int columns = ToInt(b.shape().back());
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        int64_t size = int64_t{s.n} * columns;
        ForMatrices(s, s.work() + 2.0 * s.n * static_cast<double>(size), [&](int64_t begin, int64_t end) {
            std::vector<T> factors(s.size());
            std::vector<T> right(size);
            std::vector<int> pivots(s.n);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.n, s.n, factors.data());
                Transpose(b.data<T>() + i * size, s.n, columns, right.data());
                int info = 0;
                CHAINERX_LAPACK(T, gesv, &s.n, &columns, factors.data(), &s.n, pivots.data(), right.data(), &s.n,
                                &info);
                if (info != 0) throw ChainerxError{"solve: Singular matrix"};
                Transpose(right.data(), columns, s.n, x.data<T>() + i * size);
            }
        });
    });
}

void Inverse(const Array& a, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Stack s{a};
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, 2 * s.work(), [&](int64_t begin, int64_t end) {
            int info = 0;
            int length = -1;
            T answer = 0;
            std::vector<int> pivots(s.n);
            CHAINERX_LAPACK(T, getri, &s.n, &answer, &s.n, pivots.data(), &answer, &length, &info);
            length = WorkLength("inv", answer);
            std::vector<T> work(length);
            for (int64_t i = begin; i < end; ++i) {
                // The inverse of the transposed matrix is the transposed inverse.
                T* y = out.data<T>() + i * s.size();
                std::memcpy(y, a.data<T>() + i * s.size(), s.size() * sizeof(T));
                CHAINERX_LAPACK(T, getrf, &s.n, &s.n, y, &s.n, pivots.data(), &info);
                if (info == 0) CHAINERX_LAPACK(T, getri, &s.n, y, &s.n, pivots.data(), work.data(), &length, &info);
                if (info != 0) throw ChainerxError{"inv: Singular matrix"};
            }
        });
    });
}

void Slogdet(const Array& a, const Array& sign, const Array& logdet) {
    Stack s{a};
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, s.work(), [&](int64_t begin, int64_t end) {
            std::vector<T> factors(s.size());
            std::vector<int> pivots(s.n);
            for (int64_t i = begin; i < end; ++i) {
                std::copy_n(a.data<T>() + i * s.size(), s.size(), factors.data());
                int info = 0;
                int lead = std::max(s.n, 1);
                CHAINERX_LAPACK(T, getrf, &s.n, &s.n, factors.data(), &lead, pivots.data(), &info);
                T positive = 1;
                T sum = 0;
                for (int j = 0; j < s.n; ++j) {
                    T x = factors[int64_t{j} * s.n + j];
                    if ((x < 0) != (pivots[j] != j + 1)) positive = -positive;
                    sum += std::log(std::fabs(x));
                }
                sign.data<T>()[i] = info > 0 ? T{0} : positive;
                logdet.data<T>()[i] = info > 0 ? -std::numeric_limits<T>::infinity() : sum;
            }
        });
    });
}

void Svd(const Array& a, const Array& u, const Array& sigma, const Array& vt) {
    Stack s{a};
    // Columns of u and rows of vt.
    int nu = u ? ToInt(u.shape().back()) : 0;
    int nvt = vt ? ToInt(vt.shape()[vt.ndim() - 2]) : 0;
    char job = !u ? 'N' : nu == s.m && nvt == s.n ? 'A' : 'S';
    int ldu = std::max(u ? s.m : 1, 1);
    int ldvt = std::max(nvt, 1);
    int64_t u_size = int64_t{s.m} * nu;
    int64_t vt_size = int64_t{nvt} * s.n;
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if (s.k == 0) {
            for (int64_t i = 0; i < s.count; ++i) {
                if (u_size != 0) SetIdentity(u.data<T>() + i * u_size, nu);
                if (vt_size != 0) SetIdentity(vt.data<T>() + i * vt_size, nvt);
            }
            return;
        }
        ForMatrices(s, (u ? 20 : 4) * s.work(), [&](int64_t begin, int64_t end) {
            std::vector<T> x(s.size());
            std::vector<T> left(u_size);
            std::vector<T> right(vt_size);
            std::vector<int> integers(8 * static_cast<size_t>(s.k));
            std::vector<T> work(1);
            int length = -1;
            int info = 0;
            auto decompose = [&](T* values) {
                CHAINERX_LAPACK(T, gesdd, &job, &s.m, &s.n, x.data(), &s.m, values, left.data(), &ldu, right.data(),
                                &ldvt, work.data(), &length, integers.data(), &info, 1);
            };
            decompose(sigma.data<T>() + begin * s.k);
            length = WorkLength("svd", work[0]);
            work.resize(length);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.m, s.n, x.data());
                if (!AreFinite(x.data(), s.size())) throw ChainerxError{"svd: a has elements that are not finite"};
                decompose(sigma.data<T>() + i * s.k);
                if (info != 0) throw ChainerxError{"svd: SVD did not converge"};
                if (!u) continue;
                Transpose(left.data(), nu, s.m, u.data<T>() + i * u_size);
                Transpose(right.data(), s.n, nvt, vt.data<T>() + i * vt_size);
            }
        });
    });
}

// r (rows, n) from LAPACK's matrix of m rows.
template <class T>
void CopyUpper(const T* x, int m, int n, int rows, T* r) {
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < n; ++j) r[int64_t{i} * n + j] = j < i ? T{0} : x[int64_t{j} * m + i];
    }
}

void Qr(const Array& a, const QrOutput& out) {
    Stack s{a};
    int nq = out.q ? ToInt(out.q.shape().back()) : 0;
    int nr = out.r ? ToInt(out.r.shape()[out.r.ndim() - 2]) : 0;
    int lead = std::max(s.m, 1);
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, (out.q ? 4 : 2) * s.work(), [&](int64_t begin, int64_t end) {
            std::vector<T> x(std::max<int64_t>(s.size(), 1));
            std::vector<T> factors(std::max(s.k, 1));
            std::vector<T> q(std::max<int64_t>(int64_t{s.m} * nq, 1));
            std::vector<T> work(1);
            int length = -1;
            int info = 0;
            auto factorize = [&] {
                CHAINERX_LAPACK(T, geqrf, &s.m, &s.n, x.data(), &lead, factors.data(), work.data(), &length, &info);
            };
            auto multiply = [&] {
                CHAINERX_LAPACK(T, orgqr, &s.m, &nq, &s.k, q.data(), &lead, factors.data(), work.data(), &length,
                                &info);
            };
            factorize();
            int longest = WorkLength("qr", work[0]);
            if (out.q) {
                multiply();
                longest = std::max(longest, WorkLength("qr", work[0]));
            }
            length = longest;
            work.resize(length);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.m, s.n, x.data());
                factorize();
                if (out.reflectors) {
                    std::copy_n(x.data(), s.size(), out.reflectors.data<T>() + i * s.size());
                    std::copy_n(factors.data(), s.k, out.factors.data<T>() + i * s.k);
                }
                if (out.r) CopyUpper(x.data(), s.m, s.n, nr, out.r.data<T>() + i * nr * s.n);
                if (!out.q) continue;
                std::copy_n(x.data(), int64_t{s.m} * s.k, q.data());
                multiply();
                Transpose(q.data(), nq, s.m, out.q.data<T>() + i * s.m * nq);
            }
        });
    });
}

void Cholesky(const Array& a, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Stack s{a};
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, s.work() / 3, [&](int64_t begin, int64_t end) {
            // What is the lower triangle in the order of rows is the upper one in the order of columns.
            char uplo = 'U';
            for (int64_t i = begin; i < end; ++i) {
                T* y = out.data<T>() + i * s.size();
                std::memcpy(y, a.data<T>() + i * s.size(), s.size() * sizeof(T));
                int info = 0;
                CHAINERX_LAPACK(T, potrf, &uplo, &s.n, y, &s.n, &info, 1);
                if (info != 0) throw ChainerxError{"cholesky: Matrix is not positive definite"};
                for (int j = 0; j < s.n; ++j) std::fill_n(y + int64_t{j} * s.n + j + 1, s.n - j - 1, T{0});
            }
        });
    });
}

void Eigh(const Array& a, Triangle triangle, const Array& w, const Array& v) {
    if (w.GetTotalSize() == 0) return;
    Stack s{a};
    char job = v ? 'V' : 'N';
    char uplo = triangle == Triangle::kLower ? 'L' : 'U';
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, (v ? 9 : 2) * s.work(), [&](int64_t begin, int64_t end) {
            std::vector<T> x(s.size());
            std::vector<T> work(1);
            std::vector<int> integers(1);
            int length = -1;
            int integers_length = -1;
            int info = 0;
            auto decompose = [&](T* values) {
                CHAINERX_LAPACK(T, syevd, &job, &uplo, &s.n, x.data(), &s.n, values, work.data(), &length,
                                integers.data(), &integers_length, &info, 1, 1);
            };
            decompose(w.data<T>() + begin * s.n);
            length = WorkLength("eigh", work[0]);
            integers_length = integers[0];
            work.resize(length);
            integers.resize(integers_length);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.n, s.n, x.data());
                for (int j = 0; j < s.n; ++j) {
                    // Column j of the triangle that is read.
                    int first = triangle == Triangle::kLower ? j : 0;
                    int count = triangle == Triangle::kLower ? s.n - j : j + 1;
                    if (!AreFinite(x.data() + int64_t{j} * s.n + first, count)) {
                        throw ChainerxError{"eigh: a has elements that are not finite"};
                    }
                }
                decompose(w.data<T>() + i * s.n);
                if (info != 0) throw ChainerxError{"eigh: Eigenvalues did not converge"};
                if (v) Transpose(x.data(), s.n, s.n, v.data<T>() + i * s.size());
            }
        });
    });
}

}  // namespace

void RegisterFactorizationKernels(Backend& backend) {
    kSolveKernel.Register(backend, &Solve);
    kInverseKernel.Register(backend, &Inverse);
    kSlogdetKernel.Register(backend, &Slogdet);
    kSvdKernel.Register(backend, &Svd);
    kQrKernel.Register(backend, &Qr);
    kCholeskyKernel.Register(backend, &Cholesky);
    kEighKernel.Register(backend, &Eigh);
}

}  // namespace chainerx::native
