// Solutions and factorizations of stacks of matrices by LAPACK.

#include "chainerx/ops/factorization.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

#include "chainerx/backends/native/kernels/blas.h"
#include "chainerx/backends/native/kernels/factor_small.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/numbers.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// The number of operations above which the interpreter lock is released.
constexpr double kFactorizationBlocking = 262144;
// The number of operations that make a thread worthwhile, and the fixed cost of a LAPACK call in operations.
constexpr double kFactorizationGrain = 100000;
constexpr double kCall = 1000;

// A size in LAPACK's integer type.
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
    // Whether the functions of factor_small.h are faster than LAPACK.
    bool is_small() const { return std::max(m, n) <= kSmallMatrix; }

    int m;
    int n;
    int k;
    int64_t count;
};

// Calls f(TypeTag<T>{}) with the type of the elements.
template <class F>
void Visit(const Array& a, F&& f) {
    switch (a.dtype()) {
        case Dtype::kFloat32:
            return f(TypeTag<float>{});
        case Dtype::kFloat64:
            return f(TypeTag<double>{});
        case Dtype::kComplex64:
            return f(TypeTag<std::complex<float>>{});
        default:
            return f(TypeTag<std::complex<double>>{});
    }
}

// Calls f(begin, end) for ranges of the matrices, over the thread pool where it pays. `work`: operations for each one.
template <class F>
void ForMatrices(const Stack& s, double work, F&& f) {
    InitBlas();
    work += kCall;
    BlockingScope blocking{work * static_cast<double>(s.count) > kFactorizationBlocking};
    ParallelFor(s.count, std::max<int64_t>(1, static_cast<int64_t>(kFactorizationGrain / work)),
                [&f](int64_t begin, int64_t end) {
                    BlasBuffer buffer{};
                    if (!buffer.available()) throw std::bad_alloc{};
                    f(begin, end);
                });
}

// dst (columns, rows) = src (rows, columns) transposed: from row-major order to LAPACK's column-major order.
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

// The length of a workspace, from the number that LAPACK returns.
template <class T>
int WorkLength(const char* name, T answer) {
    // LAPACK may round the float down.
    double length = std::ceil(static_cast<double>(GetReal(answer)) * (1 + std::numeric_limits<RealOf<T>>::epsilon()));
    if (!(length <= std::numeric_limits<int>::max())) throw DimensionError{name, ": the matrix is too large"};
    return std::max(static_cast<int>(length), 1);
}

// Checks that all elements are finite: iterative algorithms may not end otherwise.
template <class T>
bool AreFinite(const T* a, int64_t n) {
    constexpr int64_t kParts = kIsReal<T> ? 1 : 2;
    const auto* parts = reinterpret_cast<const RealOf<T>*>(a);
    RealOf<T> sum = 0;
    for (int64_t i = 0; i < kParts * n; ++i) sum += parts[i] * 0;
    return sum == 0;
}

// LU factors of one matrix after another.
template <class T>
class Lu {
public:
    explicit Lu(const Stack& s) : n_{s.n}, is_small_{s.is_small()}, factors_(s.size()), pivots_(s.n) {}

    // Returns false for a singular matrix.
    bool Factor(const T* a) {
        if (is_small_) {
            std::copy_n(a, factors_.size(), factors_.data());
            return FactorLu(n_, factors_.data(), pivots_.data());
        }
        Transpose(a, n_, n_, factors_.data());
        int info = 0;
        GetLapack<T>().getrf(&n_, &n_, factors_.data(), &n_, pivots_.data(), &info);
        return info == 0;
    }

    void Solve(int columns, const T* b, T* x) {
        int64_t size = int64_t{n_} * columns;
        if (is_small_) {
            std::copy_n(b, size, x);
            SolveLu(n_, factors_.data(), pivots_.data(), columns, x);
            return;
        }
        buffer_.resize(size);
        Transpose(b, n_, columns, buffer_.data());
        char trans = 'N';
        int info = 0;
        GetLapack<T>().getrs(&trans, &n_, &columns, factors_.data(), &n_, pivots_.data(), buffer_.data(), &n_, &info,
                             1);
        Transpose(buffer_.data(), columns, n_, x);
    }

    // Overwrites the factors.
    void Invert(T* out) {
        if (is_small_) {
            SetIdentity(out, n_);
            SolveLu(n_, factors_.data(), pivots_.data(), n_, out);
            return;
        }
        int info = 0;
        int length = -1;
        T answer = 0;
        GetLapack<T>().getri(&n_, factors_.data(), &n_, pivots_.data(), &answer, &length, &info);
        length = WorkLength("inv", answer);
        buffer_.resize(length);
        GetLapack<T>().getri(&n_, factors_.data(), &n_, pivots_.data(), buffer_.data(), &length, &info);
        Transpose(factors_.data(), n_, n_, out);
    }

    // The sign, and the logarithm of the absolute value, of the determinant.
    void GetDeterminant(T* sign, RealOf<T>* logarithm) const {
        *sign = 1;
        *logarithm = 0;
        for (int i = 0; i < n_; ++i) {
            T x = factors_[int64_t{i} * n_ + i];
            *sign *= pivots_[i] == i + 1 ? GetDirection(x) : -GetDirection(x);
            *logarithm += std::log(std::abs(x));
        }
    }

private:
    int n_;
    bool is_small_;
    std::vector<T> factors_;
    std::vector<int> pivots_;
    std::vector<T> buffer_;
};

void Solve(const Array& a, const Array& b, const Array& x) {
    if (x.GetTotalSize() == 0) return;
    Stack s{a};
    int columns = ToInt(b.shape().back());
    int64_t size = int64_t{s.n} * columns;
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, s.work() + 2.0 * s.n * static_cast<double>(size), [&](int64_t begin, int64_t end) {
            Lu<T> lu{s};
            for (int64_t i = begin; i < end; ++i) {
                if (!lu.Factor(a.data<T>() + i * s.size())) throw ChainerxError{"solve: Singular matrix"};
                lu.Solve(columns, b.data<T>() + i * size, x.data<T>() + i * size);
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
            Lu<T> lu{s};
            for (int64_t i = begin; i < end; ++i) {
                if (!lu.Factor(a.data<T>() + i * s.size())) throw ChainerxError{"inv: Singular matrix"};
                lu.Invert(out.data<T>() + i * s.size());
            }
        });
    });
}

void Slogdet(const Array& a, const Array& sign, const Array& logdet) {
    Stack s{a};
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, s.work(), [&](int64_t begin, int64_t end) {
            Lu<T> lu{s};
            for (int64_t i = begin; i < end; ++i) {
                T* y = sign.data<T>() + i;
                RealOf<T>* z = logdet.data<RealOf<T>>() + i;
                if (lu.Factor(a.data<T>() + i * s.size())) {
                    lu.GetDeterminant(y, z);
                } else {
                    *y = 0;
                    *z = -std::numeric_limits<RealOf<T>>::infinity();
                }
            }
        });
    });
}

// The length of the real workspace that gesdd takes of complex numbers.
size_t RealWorkOfSvd(const Stack& s, char job) {
    auto k = static_cast<size_t>(s.k);
    auto larger = static_cast<size_t>(std::max(s.m, s.n));
    return k * (job == 'N' ? 7 : std::max(5 * k + 7, 2 * (larger + k) + 1));
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
            std::vector<RealOf<T>> real_work(kIsReal<T> ? 0 : RealWorkOfSvd(s, job));
            int length = -1;
            int info = 0;
            auto decompose = [&](RealOf<T>* values) {
                auto call = [&](auto... reals) {
                    GetLapack<T>().gesdd(&job, &s.m, &s.n, x.data(), &s.m, values, left.data(), &ldu, right.data(),
                                         &ldvt, work.data(), &length, reals..., integers.data(), &info, 1);
                };
                if constexpr (kIsReal<T>) {
                    call();
                } else {
                    call(real_work.data());
                }
            };
            decompose(sigma.data<RealOf<T>>() + begin * s.k);
            length = WorkLength("svd", work[0]);
            work.resize(length);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.m, s.n, x.data());
                if (!AreFinite(x.data(), s.size())) throw ChainerxError{"svd: a has elements that are not finite"};
                decompose(sigma.data<RealOf<T>>() + i * s.k);
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

// QR factors of one matrix after another, in LAPACK's order of columns.
template <class T>
class QrFactors {
public:
    // `columns`: of q, zero if it is not wanted.
    QrFactors(const Stack& s, int columns)
        : s_{s},
          columns_{columns},
          lead_{std::max(s.m, 1)},
          x(std::max<int64_t>(s.size(), 1)),
          q(std::max<int64_t>(int64_t{s.m} * columns, 1)),
          factors(std::max(s.k, 1)) {
        if (s.is_small()) return;
        Geqrf();
        int length = WorkLength("qr", work_[0]);
        Orgqr();
        length_ = std::max(length, WorkLength("qr", work_[0]));
        work_.resize(length_);
    }

    void Factor() {
        if (s_.is_small()) {
            FactorQr(s_.m, s_.n, x.data(), factors.data());
        } else {
            Geqrf();
        }
    }

    void Expand() {
        std::copy_n(x.data(), int64_t{s_.m} * s_.k, q.data());
        if (s_.is_small()) {
            ExpandQ(s_.m, columns_, s_.k, q.data(), factors.data());
        } else {
            Orgqr();
        }
    }

private:
    void Geqrf() {
        GetLapack<T>().geqrf(&s_.m, &s_.n, x.data(), &lead_, factors.data(), work_.data(), &length_, &info_);
    }
    void Orgqr() {
        GetLapack<T>().orgqr(&s_.m, &columns_, &s_.k, q.data(), &lead_, factors.data(), work_.data(), &length_, &info_);
    }

    const Stack& s_;
    int columns_;
    int lead_;
    int length_{-1};
    int info_{0};
    std::vector<T> work_ = std::vector<T>(1);

public:
    std::vector<T> x;  // the matrix, then r and the reflectors
    std::vector<T> q;
    std::vector<T> factors;
};

void Qr(const Array& a, const QrOutput& out) {
    Stack s{a};
    int nq = out.q ? ToInt(out.q.shape().back()) : 0;
    int nr = out.r ? ToInt(out.r.shape()[out.r.ndim() - 2]) : 0;
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, (out.q ? 4 : 2) * s.work(), [&](int64_t begin, int64_t end) {
            QrFactors<T> qr{s, nq};
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.m, s.n, qr.x.data());
                qr.Factor();
                if (out.reflectors) {
                    std::copy_n(qr.x.data(), s.size(), out.reflectors.data<T>() + i * s.size());
                    std::copy_n(qr.factors.data(), s.k, out.factors.data<T>() + i * s.k);
                }
                if (out.r) CopyUpper(qr.x.data(), s.m, s.n, nr, out.r.data<T>() + i * nr * s.n);
                if (!out.q) continue;
                qr.Expand();
                Transpose(qr.q.data(), nq, s.m, out.q.data<T>() + i * s.m * nq);
            }
        });
    });
}

// Replaces the lower triangle of a matrix by its factor. Returns false when it is not positive definite.
template <class T>
bool FactorLower(const Stack& s, T* a) {
    if (s.n <= kSmallCholesky) return FactorCholesky(s.n, a);
    // The lower triangle in row-major order is the upper one in column-major order.
    char uplo = 'U';
    int info = 0;
    GetLapack<T>().potrf(&uplo, &s.n, a, &s.n, &info, 1);
    return info == 0;
}

void Cholesky(const Array& a, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Stack s{a};
    Visit(a, [&](auto tag) {
        using T = typename decltype(tag)::type;
        ForMatrices(s, s.work() / 3, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                T* y = out.data<T>() + i * s.size();
                std::copy_n(a.data<T>() + i * s.size(), s.size(), y);
                if (!FactorLower(s, y)) throw ChainerxError{"cholesky: Matrix is not positive definite"};
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
            std::vector<RealOf<T>> real_work(1);
            std::vector<int> integers(1);
            int length = -1;
            int real_length = -1;
            int integers_length = -1;
            int info = 0;
            auto decompose = [&](RealOf<T>* values) {
                auto call = [&](auto... reals) {
                    GetLapack<T>().syevd(&job, &uplo, &s.n, x.data(), &s.n, values, work.data(), &length, reals...,
                                         integers.data(), &integers_length, &info, 1, 1);
                };
                if constexpr (kIsReal<T>) {
                    call();
                } else {
                    call(real_work.data(), &real_length);
                }
            };
            decompose(w.data<RealOf<T>>() + begin * s.n);
            length = WorkLength("eigh", work[0]);
            real_length = WorkLength("eigh", real_work[0]);
            integers_length = integers[0];
            work.resize(length);
            real_work.resize(real_length);
            integers.resize(integers_length);
            for (int64_t i = begin; i < end; ++i) {
                Transpose(a.data<T>() + i * s.size(), s.n, s.n, x.data());
                for (int j = 0; j < s.n; ++j) {
                    // Column j of the triangle that the routine reads.
                    int first = triangle == Triangle::kLower ? j : 0;
                    int count = triangle == Triangle::kLower ? s.n - j : j + 1;
                    if (!AreFinite(x.data() + int64_t{j} * s.n + first, count)) {
                        throw ChainerxError{"eigh: a has elements that are not finite"};
                    }
                }
                decompose(w.data<RealOf<T>>() + i * s.n);
                if (info != 0) throw ChainerxError{"eigh: Eigenvalues did not converge"};
                if (v) Transpose(x.data(), s.n, s.n, v.data<T>() + i * s.size());
            }
        });
    });
}

}  // namespace

const NativeKernels g_factorization_kernels{[](Backend& backend) {
    kSolveKernel.Register(backend, &Solve);
    kInverseKernel.Register(backend, &Inverse);
    kSlogdetKernel.Register(backend, &Slogdet);
    kSvdKernel.Register(backend, &Svd);
    kQrKernel.Register(backend, &Qr);
    kCholeskyKernel.Register(backend, &Cholesky);
    kEighKernel.Register(backend, &Eigh);
}};

}  // namespace chainerx::native
