// Solutions and factorizations of stacks of matrices: small ones by factorization_blocks.cu, others by cuSOLVER, and on
// the host where that is missing. Nothing else than the number that says whether there is a solution goes to the host.

#include <cmath>
#include <vector>

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/backends/cuda/cusolver.h"
#include "chainerx/backends/cuda/factorization.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::cuda {
namespace {

// Whether cuSOLVER is there and has integers of that size.
bool SuitsSolver(const Stack& s) { return s.larger_side() <= std::numeric_limits<int>::max() && HasSolver(); }

// cuSOLVER's functions do part of their work on the host, so other threads of the interpreter run meanwhile.
template <class T>
struct SolverScope {
    SolverScope(const Array& a, const char* what) : solver{a.device(), what} {}

    BlockingScope blocking;
    Solver<T> solver;
};

// A view of a stack with one dimension in place of the leading ones. The functions after it take such views.
Array Flat(const Array& a) {
    Stack s{a};
    int64_t item = a.GetItemSize();
    Strides strides{s.m * s.n * item, s.n * item, item};
    return internal::MakeView(a, Shape{s.count, s.m, s.n}, strides, a.offset());
}
Array Transposed(const Array& a) { return Permuted(a, Axes{0, 2, 1}); }
Array FirstRows(const Array& a, int64_t rows) {
    return internal::MakeView(a, Shape{a.shape()[0], rows, a.shape()[2]}, a.strides(), a.offset());
}

Array TransposedCopy(const Array& a) { return MakeContiguousCopy(Transposed(Flat(a)), a.dtype()); }
Array EmptyStack(const Array& like, const Shape& shape) { return Empty(shape, like.dtype(), like.device()); }
Array EmptyIntegers(const Array& like, const Shape& shape) { return Empty(shape, Dtype::kInt32, like.device()); }

// Reads, for each matrix, whether there was a problem. Waits.
void RaiseIf(const Array& info, const char* message) {
    std::vector<int> values(static_cast<size_t>(info.GetTotalSize()));
    info.device().CopyToHost(values.data(), info.raw_data(), info.GetNBytes());
    for (int value : values) {
        if (value != 0) throw ChainerxError{message};
    }
}

enum class Part { kAll, kLower, kUpper };

// Sets the elements of matrices (rows, columns) outside the part to zero.
template <class T>
__global__ void KeepKernel(int64_t size, int64_t rows, int64_t columns, T* a, Part part) {
    int64_t i = ThreadIndex();
    if (i >= size) return;
    int64_t column = i % columns;
    int64_t row = i / columns % rows;
    if (part == Part::kLower ? column > row : column < row) a[i] = 0;
}
void Keep(Part part, const Array& a, const char* what) {
    Stack s{a};
    int64_t size = a.GetTotalSize();
    if (size == 0) return;
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch(what, a.device(), BlocksFor(size), kBlock, &KeepKernel<T>, size, s.m, s.n, a.data<T>(), part);
    });
}

template <class T>
__global__ void IdentityKernel(int64_t size, int64_t n, T* a) {
    int64_t i = ThreadIndex();
    if (i < size) a[i] = static_cast<T>(i % n == i / n % n ? 1 : 0);
}
void SetIdentity(const Array& a, const char* what) {
    int64_t size = a.GetTotalSize();
    if (size == 0) return;
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch(what, a.device(), BlocksFor(size), kBlock, &IdentityKernel<T>, size, a.shape().back(), a.data<T>());
    });
}

// Replaces elements that are not finite, with which iterative algorithms may not end, and reports those of the part.
template <class T>
__global__ void MakeFiniteKernel(int64_t size, int64_t rows, int64_t columns, T* a, Part part, int* problem) {
    int64_t i = ThreadIndex();
    if (i >= size || a[i] - a[i] == 0) return;
    int64_t column = i % columns;
    int64_t row = i / columns % rows;
    bool is_read = part == Part::kAll || (part == Part::kLower ? column <= row : column >= row);
    a[i] = 0;
    if (is_read) *problem = 1;
}
Array MakeFinite(const Array& a, Part part, const char* what) {
    Stack s{a};
    Array problem = EmptyIntegers(a, Shape{1});
    kFillKernel(a.device(), problem, Scalar{0});
    int64_t size = a.GetTotalSize();
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch(what, a.device(), BlocksFor(size), kBlock, &MakeFiniteKernel<T>, size, s.m, s.n, a.data<T>(), part,
               problem.data<int>());
    });
    return problem;
}

// LU factors of all matrices of a stack. Those by cuSOLVER are of column-major matrices.
struct Lu {
    Lu(const Array& a, const char* what)
        : what{what},
          sizes{a},
          is_by_blocks{blocks::Suit(sizes)},
          factors{is_by_blocks ? MakeContiguousCopy(a, a.dtype()) : TransposedCopy(a)},
          pivots{EmptyIntegers(a, Shape{sizes.count, sizes.n})},
          info{EmptyIntegers(a, Shape{sizes.count})} {
        if (is_by_blocks) {
            blocks::FactorLu(factors, pivots, info, what);
            return;
        }
        VisitComputeDtype(a.dtype(), [this](auto tag) { Factor(tag); });
    }

    // Replaces x (..., n, columns) by the solutions.
    void Solve(const Array& x) const {
        if (is_by_blocks) {
            blocks::SolveLu(factors, pivots, x, what);
            return;
        }
        VisitComputeDtype(x.dtype(), [this, &x](auto tag) { Solve(tag, x); });
    }

    const char* what;
    Stack sizes;
    bool is_by_blocks;
    Array factors;
    Array pivots;
    Array info;

private:
    template <class T>
    void Factor(TypeTag<T>) {
        using F = solver::Functions<T>;
        SolverScope<T> scope{factors, what};
        const Solver<T>& solver = scope.solver;
        int64_t n = sizes.n;
        auto* a = factors.data<T>();
        int size = 0;
        solver(&F::getrf_size, n, n, a, n, &size);
        Array work = solver.MakeWorkspace(size);
        for (int64_t i = 0; i < sizes.count; ++i) {
            solver(&F::getrf, n, n, a + i * n * n, n, work.data<T>(), pivots.data<int>() + i * n, info.data<int>() + i);
        }
    }

    template <class T>
    void Solve(TypeTag<T>, const Array& x) const {
        using F = solver::Functions<T>;
        SolverScope<T> scope{factors, what};
        const Solver<T>& solver = scope.solver;
        int64_t n = sizes.n;
        int64_t columns = x.shape().back();
        Array y = TransposedCopy(x);
        Array ignored = EmptyIntegers(x, Shape{1});
        for (int64_t i = 0; i < sizes.count; ++i) {
            solver(&F::getrs, solver::kNoTranspose, n, columns, factors.data<T>() + i * n * n, n,
                   pivots.data<int>() + i * n, y.data<T>() + i * n * columns, n, ignored.data<int>());
        }
        CopyData(Transposed(y), Flat(x));
    }
};

bool Suits(const Stack& s) { return blocks::Suit(s) || SuitsSolver(s); }

void Solve(const Array& a, const Array& b, const Array& x) {
    if (x.GetTotalSize() == 0) return;
    if (!Suits(Stack{a})) return host::Solve(a, b, x);
    Lu lu{a, "solve"};
    CopyData(b, x);
    lu.Solve(x);
    RaiseIf(lu.info, "solve: Singular matrix");
}

void Inverse(const Array& a, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    if (!Suits(Stack{a})) return host::Inverse(a, out);
    Lu lu{a, "inv"};
    SetIdentity(out, "inv");
    lu.Solve(out);
    RaiseIf(lu.info, "inv: Singular matrix");
}

// A warp for each matrix.
template <class T>
__global__ void DeterminantKernel(int64_t count, int64_t n, const T* lu, const int* pivots, const int* info, T* sign,
                                  T* logarithm) {
    int64_t i = ThreadIndex() / kWarp;
    if (i >= count) return;
    const T* a = lu + i * n * n;
    T product = 1;
    T sum = 0;
    for (int64_t j = threadIdx.x % kWarp; j < n; j += kWarp) {
        T x = a[j * n + j];
        if ((x < 0) != (pivots[i * n + j] != j + 1)) product = -product;
        sum += math::Log(math::Abs(x));
    }
    product = CombineWarp(ProdOp<T>{}, product);
    sum = CombineWarp(SumOp<T>{}, sum);
    if (threadIdx.x % kWarp != 0) return;
    bool is_singular = info[i] != 0;
    sign[i] = is_singular ? T{0} : product;
    logarithm[i] = is_singular ? Lowest<T>() : sum;
}

void Slogdet(const Array& a, const Array& sign, const Array& logdet) {
    Stack s{a};
    if (s.count == 0) return;
    if (!Suits(s)) return host::Slogdet(a, sign, logdet);
    Lu lu{a, "slogdet"};
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Launch("slogdet", a.device(), BlocksFor(s.count * kWarp), kBlock, &DeterminantKernel<T>, s.count, s.n,
               lu.factors.data<T>(), lu.pivots.data<int>(), lu.info.data<int>(), sign.data<T>(), logdet.data<T>());
    });
}

// Replaces the lower triangles.
template <class T>
void FactorCholesky(TypeTag<T>, const Array& a, const Array& info) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{a, "cholesky"};
    const Solver<T>& solver = scope.solver;
    Stack s{a};
    int64_t n = s.n;
    // The lower triangle in row-major order is the upper one in column-major order.
    int size = 0;
    solver(&F::potrf_size, solver::kUpper, n, a.data<T>(), n, &size);
    Array work = solver.MakeWorkspace(size);
    for (int64_t i = 0; i < s.count; ++i) {
        solver(&F::potrf, solver::kUpper, n, a.data<T>() + i * n * n, n, work.data<T>(), size, info.data<int>() + i);
    }
}

void Cholesky(const Array& a, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    Stack s{a};
    if (!Suits(s)) return host::Cholesky(a, out);
    CopyData(a, out);
    Array info = EmptyIntegers(a, Shape{s.count});
    if (blocks::Suit(s)) {
        blocks::FactorCholesky(out, info);
    } else {
        VisitComputeDtype(a.dtype(), [&](auto tag) { FactorCholesky(tag, out, info); });
        Keep(Part::kLower, out, "cholesky");
    }
    RaiseIf(info, "cholesky: Matrix is not positive definite");
}

template <class T>
void FactorQr(TypeTag<T>, const Array& x, const Array& factors) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{x, "qr"};
    const Solver<T>& solver = scope.solver;
    Stack s{x};
    int64_t m = s.n;
    int64_t n = s.m;
    int size = 0;
    solver(&F::geqrf_size, m, n, x.data<T>(), m, &size);
    Array work = solver.MakeWorkspace(size);
    Array ignored = EmptyIntegers(x, Shape{1});
    for (int64_t i = 0; i < s.count; ++i) {
        solver(&F::geqrf, m, n, x.data<T>() + i * m * n, m, factors.data<T>() + i * s.k, work.data<T>(), size,
               ignored.data<int>());
    }
}

template <class T>
void ExpandQ(TypeTag<T>, const Array& q, const Array& factors) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{q, "qr"};
    const Solver<T>& solver = scope.solver;
    Stack s{q};
    int64_t m = s.n;
    int64_t n = s.m;
    int64_t k = factors.shape().back();
    int size = 0;
    solver(&F::orgqr_size, m, n, k, q.data<T>(), m, factors.data<T>(), &size);
    Array work = solver.MakeWorkspace(size);
    Array ignored = EmptyIntegers(q, Shape{1});
    for (int64_t i = 0; i < s.count; ++i) {
        solver(&F::orgqr, m, n, k, q.data<T>() + i * m * n, m, factors.data<T>() + i * k, work.data<T>(), size,
               ignored.data<int>());
    }
}

void Qr(const Array& a, const QrOutput& out) {
    Stack s{a};
    if (s.count == 0) return;
    bool by_blocks = blocks::Suit(s) || s.k == 0;
    if (!by_blocks && !SuitsSolver(s)) return host::Qr(a, out);
    Array x = TransposedCopy(a);
    Array factors = EmptyStack(a, Shape{s.count, s.k});
    if (by_blocks) {
        blocks::FactorQr(x, factors);
    } else {
        VisitComputeDtype(a.dtype(), [&](auto tag) { FactorQr(tag, x, factors); });
    }
    if (out.reflectors) {
        CopyData(x, Flat(out.reflectors));
        CopyData(factors, internal::MakeView(out.factors, factors.shape(), factors.strides(), out.factors.offset()));
    }
    if (out.r) {
        CopyData(FirstRows(Transposed(x), Stack{out.r}.m), Flat(out.r));
        Keep(Part::kUpper, out.r, "qr");
    }
    if (!out.q) return;
    Array q = EmptyStack(a, Shape{s.count, out.q.shape().back(), s.m});
    CopyData(FirstRows(x, s.k), FirstRows(q, s.k));
    if (by_blocks) {
        blocks::ExpandQ(q, factors);
    } else {
        VisitComputeDtype(a.dtype(), [&](auto tag) { ExpandQ(tag, q, factors); });
    }
    CopyData(Transposed(q), Flat(out.q));
}

bool SuitsJacobi(const Stack& s) { return s.count > 1 && s.larger_side() <= solver::kMaxBatchedSide; }

template <class T>
void SvdByJacobi(TypeTag<T>, const Array& a, const Array& u, const Array& values, const Array& vt, const Array& info) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{a, "svd"};
    const Solver<T>& solver = scope.solver;
    Stack s{a};  // of transposed matrices
    int64_t m = s.n;
    int64_t n = s.m;
    int job = u ? solver::kVectors : solver::kValues;
    Array left = EmptyStack(a, Shape{s.count, m, m});
    Array right = EmptyStack(a, Shape{s.count, n, n});
    int size = 0;
    solver(&F::gesvdj_size, job, m, n, a.data<T>(), m, values.data<T>(), left.data<T>(), m, right.data<T>(), n, &size,
           solver.gesvdj_options, s.count);
    Array work = solver.MakeWorkspace(size);
    solver(&F::gesvdj, job, m, n, a.data<T>(), m, values.data<T>(), left.data<T>(), m, right.data<T>(), n,
           work.data<T>(), size, info.data<int>(), solver.gesvdj_options, s.count);
    if (!u) return;
    CopyData(Transposed(FirstRows(left, u.shape().back())), Flat(u));
    CopyData(FirstRows(right, Stack{vt}.m), Flat(vt));
}

// `a`: column-major matrices (m, n) with m >= n. `ut` and `v` are the transposed factors.
template <class T>
void SvdOfTall(TypeTag<T>, const Array& a, const Array& ut, const Array& values, const Array& v, const Array& info) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{a, "svd"};
    const Solver<T>& solver = scope.solver;
    Stack s{a};
    int64_t m = s.n;
    int64_t n = s.m;
    int64_t columns = ut ? ut.shape()[ut.ndim() - 2] : 0;
    int job = !ut ? 'N' : columns == m ? 'A' : 'S';
    int size = 0;
    solver(&F::gesvd_size, m, n, &size);
    Array work = solver.MakeWorkspace(size);
    Array real_work = EmptyStack(a, Shape{n});
    for (int64_t i = 0; i < s.count; ++i) {
        solver(&F::gesvd, job, job, m, n, a.data<T>() + i * m * n, m, values.data<T>() + i * n,
               ut ? ut.data<T>() + i * m * columns : nullptr, m, v ? v.data<T>() + i * n * n : nullptr, n,
               work.data<T>(), size, real_work.data<T>(), info.data<int>() + i);
    }
}

void Svd(const Array& a, const Array& u, const Array& values, const Array& vt) {
    Stack s{a};
    if (s.count == 0) return;
    if (s.k == 0) {
        if (u) SetIdentity(u, "svd");
        if (vt) SetIdentity(vt, "svd");
        return;
    }
    if (!SuitsSolver(s)) return host::Svd(a, u, values, vt);
    bool is_tall = s.m >= s.n;
    bool by_jacobi = SuitsJacobi(s);
    Array x = is_tall || by_jacobi ? TransposedCopy(a) : MakeContiguousCopy(a, a.dtype());
    Array problem = MakeFinite(x, Part::kAll, "svd");
    Array info = EmptyIntegers(a, Shape{s.count});
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        if (by_jacobi) {
            SvdByJacobi(tag, x, u, values, vt, info);
        } else if (!is_tall) {
            SvdOfTall(tag, x, vt, values, u, info);
        } else if (!u) {
            SvdOfTall(tag, x, u, values, vt, info);
        } else {
            Array left = EmptyStack(a, Shape{s.count, u.shape().back(), s.m});
            Array right = EmptyStack(a, Shape{s.count, s.n, s.n});
            SvdOfTall(tag, x, left, values, right, info);
            CopyData(Transposed(left), Flat(u));
            CopyData(Transposed(right), Flat(vt));
        }
    });
    RaiseIf(problem, "svd: a has elements that are not finite");
    RaiseIf(info, "svd: SVD did not converge");
}

template <class T>
void FactorEigh(TypeTag<T>, const Array& a, int job, int triangle, const Array& values, const Array& info) {
    using F = solver::Functions<T>;
    SolverScope<T> scope{a, "eigh"};
    const Solver<T>& solver = scope.solver;
    Stack s{a};
    int64_t n = s.n;
    int size = 0;
    if (SuitsJacobi(s)) {
        solver(&F::syevj_size, job, triangle, n, a.data<T>(), n, values.data<T>(), &size, solver.syevj_options,
               s.count);
        Array work = solver.MakeWorkspace(size);
        solver(&F::syevj, job, triangle, n, a.data<T>(), n, values.data<T>(), work.data<T>(), size, info.data<int>(),
               solver.syevj_options, s.count);
        return;
    }
    solver(&F::syevd_size, job, triangle, n, a.data<T>(), n, values.data<T>(), &size);
    Array work = solver.MakeWorkspace(size);
    for (int64_t i = 0; i < s.count; ++i) {
        solver(&F::syevd, job, triangle, n, a.data<T>() + i * n * n, n, values.data<T>() + i * n, work.data<T>(), size,
               info.data<int>() + i);
    }
}

void Eigh(const Array& a, Triangle triangle, const Array& values, const Array& v) {
    if (values.GetTotalSize() == 0) return;
    Stack s{a};
    if (!SuitsSolver(s)) return host::Eigh(a, triangle, values, v);
    // A triangle in row-major order is the other one in column-major order.
    bool is_lower = triangle == Triangle::kLower;
    Array x = MakeContiguousCopy(a, a.dtype());
    Array problem = MakeFinite(x, is_lower ? Part::kLower : Part::kUpper, "eigh");
    Array info = EmptyIntegers(a, Shape{s.count});
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        FactorEigh(tag, x, v ? solver::kVectors : solver::kValues, is_lower ? solver::kUpper : solver::kLower, values,
                   info);
    });
    if (v) CopyData(Transposed(Flat(x)), Flat(v));
    RaiseIf(problem, "eigh: a has elements that are not finite");
    RaiseIf(info, "eigh: Eigenvalues did not converge");
}

}  // namespace

const CudaKernels g_factorization_kernels{[](Backend& backend) {
    kSolveKernel.Register(backend, &Solve);
    kInverseKernel.Register(backend, &Inverse);
    kSlogdetKernel.Register(backend, &Slogdet);
    kSvdKernel.Register(backend, &Svd);
    kQrKernel.Register(backend, &Qr);
    kCholeskyKernel.Register(backend, &Cholesky);
    kEighKernel.Register(backend, &Eigh);
}};

}  // namespace chainerx::cuda
