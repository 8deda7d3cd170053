// Factorizations of small matrices, each by one block of threads.

#include <algorithm>
#include <cmath>

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/backends/cuda/factorization.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduce_ops.h"

namespace chainerx::cuda::blocks {
namespace {

// Calls f(i) for 0 <= i < n, divided among the threads of the block.
template <class F>
__device__ void ForThreads(int n, F&& f) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) f(i);
}

template <class T>
struct Pivot {
    T size;
    int row;
};

template <class T>
struct LargestPivot {
    __device__ static Pivot<T> Combine(const Pivot<T>& a, const Pivot<T>& b) {
        bool is_first = a.size > b.size || (a.size == b.size && a.row < b.row);
        return is_first ? a : b;
    }
};

// The row of the largest element of a column, from row `k` on. By the first warp.
template <class T>
__device__ int FindPivot(int n, int k, const T* a) {
    Pivot<T> best{-1, n};
    for (int i = k + static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(kWarp)) {
        T x = a[i * n + k];
        best = LargestPivot<T>::Combine(best, {math::IsNan(x) ? T{0} : math::Abs(x), i});
    }
    return CombineWarp(LargestPivot<T>{}, best).row;
}

template <class T>
__global__ void LuBlock(int n, T* matrices, int* all_pivots, int* info) {
    T* a = matrices + static_cast<int64_t>(blockIdx.x) * n * n;
    int* pivots = all_pivots + static_cast<int64_t>(blockIdx.x) * n;
    if (threadIdx.x == 0) info[blockIdx.x] = 0;
    ForThreads(n, [&](int i) { pivots[i] = i + 1; });  // also where there is no solution
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        if (threadIdx.x < kWarp) {
            int row = FindPivot(n, k, a);
            if (threadIdx.x == 0) pivots[k] = row + 1;
        }
        __syncthreads();
        int row = pivots[k] - 1;
        ForThreads(row == k ? 0 : n, [&](int j) {
            T x = a[k * n + j];
            a[k * n + j] = a[row * n + j];
            a[row * n + j] = x;
        });
        __syncthreads();
        T pivot = a[k * n + k];
        if (pivot == 0) {
            if (threadIdx.x == 0) info[blockIdx.x] = k + 1;
            return;
        }
        int rest = n - k - 1;
        ForThreads(rest, [&](int i) { a[(k + 1 + i) * n + k] /= pivot; });
        __syncthreads();
        ForThreads(rest * rest, [&](int e) {
            int i = k + 1 + e / rest;
            int j = k + 1 + e % rest;
            a[i * n + j] -= a[i * n + k] * a[k * n + j];
        });
        __syncthreads();
    }
}

// Columns that one block solves for.
constexpr int kColumns = 64;

template <class T>
__global__ void SolveLuBlock(int n, const T* lu, const int* all_pivots, int64_t columns, T* x) {
    const T* a = lu + static_cast<int64_t>(blockIdx.x) * n * n;
    const int* pivots = all_pivots + static_cast<int64_t>(blockIdx.x) * n;
    T* stack = x + static_cast<int64_t>(blockIdx.x) * n * columns;
    for (int64_t first = static_cast<int64_t>(blockIdx.y) * kColumns; first < columns;
         first += static_cast<int64_t>(gridDim.y) * kColumns) {
        T* b = stack + first;
        int width = static_cast<int>(columns - first < kColumns ? columns - first : kColumns);
        ForThreads(width, [&](int c) {
            for (int i = 0; i < n; ++i) {
                int row = pivots[i] - 1;
                T value = b[i * columns + c];
                b[i * columns + c] = b[row * columns + c];
                b[row * columns + c] = value;
            }
        });
        __syncthreads();
        auto subtract = [&](int i, int begin, int end) {
            ForThreads((end - begin) * width, [&](int e) {
                int row = begin + e / width;
                int c = e % width;
                b[row * columns + c] -= a[row * n + i] * b[i * columns + c];
            });
            __syncthreads();
        };
        for (int i = 0; i < n; ++i) subtract(i, i + 1, n);
        for (int i = n - 1; i >= 0; --i) {
            ForThreads(width, [&](int c) { b[i * columns + c] /= a[i * n + i]; });
            __syncthreads();
            subtract(i, 0, i);
        }
    }
}

template <class T>
__global__ void CholeskyBlock(int n, T* matrices, int* info) {
    T* a = matrices + static_cast<int64_t>(blockIdx.x) * n * n;
    if (threadIdx.x == 0) info[blockIdx.x] = 0;
    for (int k = 0; k < n; ++k) {
        T square = a[k * n + k];
        if (square <= 0) {
            if (threadIdx.x == 0) info[blockIdx.x] = k + 1;
            return;
        }
        __syncthreads();
        T root = math::Sqrt(square);
        ForThreads(n - k, [&](int i) {
            T& x = a[(k + i) * n + k];
            x = i == 0 ? root : x / root;
        });
        __syncthreads();
        int rest = n - k - 1;
        ForThreads(rest * rest, [&](int e) {
            int i = k + 1 + e / rest;
            int j = k + 1 + e % rest;
            if (j <= i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
        });
        __syncthreads();
    }
    ForThreads(n * n, [&](int e) {
        if (e % n > e / n) a[e] = 0;
    });
}

// Calls f(i) for 0 <= i < n, divided among the lanes of the warp.
template <class F>
__device__ void ForLanes(int n, F&& f) {
    for (int i = static_cast<int>(threadIdx.x % kWarp); i < n; i += static_cast<int>(kWarp)) f(i);
}

// The length of a vector, without overflow. By a warp, as is the next function.
template <class T>
__device__ T GetNorm(const T* x, int n) {
    T scale = 0;
    ForLanes(n, [&](int i) { scale = math::Max(scale, math::Abs(x[i])); });
    scale = CombineWarp(MaxOp<T>{}, scale);
    if (scale == 0) return 0;
    T sum = 0;
    ForLanes(n, [&](int i) { sum += (x[i] / scale) * (x[i] / scale); });
    return scale * math::Sqrt(CombineWarp(SumOp<T>{}, sum));
}

// x -= tau v (v^T x) with v = (1, rest) of n elements: a reflection.
template <class T>
__device__ void Reflect(const T* v, T tau, int n, T* x) {
    T sum = 0;
    ForLanes(n, [&](int i) { sum += (i == 0 ? T{1} : v[i]) * x[i]; });
    sum = tau * CombineWarp(SumOp<T>{}, sum);
    ForLanes(n, [&](int i) { x[i] -= (i == 0 ? T{1} : v[i]) * sum; });
}

// Reflects columns, which the warps of the block share.
template <class T>
__device__ void ReflectColumns(const T* v, T tau, int length, T* first, int columns, int64_t step) {
    int warps = static_cast<int>(blockDim.x / kWarp);
    for (int c = static_cast<int>(threadIdx.x / kWarp); c < columns; c += warps) {
        Reflect(v, tau, length, first + c * step);
    }
    __syncthreads();
}

template <class T>
__global__ void QrBlock(int m, int n, T* matrices, T* all_factors) {
    __shared__ T shared_divisor;
    int k = m < n ? m : n;
    T* a = matrices + static_cast<int64_t>(blockIdx.x) * m * n;
    T* factors = all_factors + static_cast<int64_t>(blockIdx.x) * k;
    for (int j = 0; j < k; ++j) {
        T* v = a + static_cast<int64_t>(j) * m + j;
        int length = m - j;
        if (threadIdx.x < kWarp) {
            T norm = GetNorm(v + 1, length - 1);
            if (threadIdx.x == 0) {
                T first = v[0];
                T beta = -std::copysign(std::hypot(first, norm), first);
                factors[j] = norm == 0 ? T{0} : (beta - first) / beta;
                shared_divisor = first - beta;
                if (norm != 0) v[0] = beta;
            }
        }
        __syncthreads();
        T tau = factors[j];
        T divisor = shared_divisor;
        if (tau != 0) ForThreads(length - 1, [&](int i) { v[1 + i] /= divisor; });
        __syncthreads();
        if (tau != 0) ReflectColumns(v, tau, length, v + m, n - j - 1, m);
    }
}

template <class T>
__global__ void ExpandQBlock(int m, int n, int k, T* matrices, const T* all_factors) {
    T* a = matrices + static_cast<int64_t>(blockIdx.x) * m * n;
    const T* factors = all_factors + static_cast<int64_t>(blockIdx.x) * k;
    ForThreads((n - k) * m, [&](int e) {
        int c = k + e / m;
        a[static_cast<int64_t>(c) * m + e % m] = static_cast<T>(e % m == c ? 1 : 0);
    });
    __syncthreads();
    for (int j = k - 1; j >= 0; --j) {
        T* v = a + static_cast<int64_t>(j) * m + j;
        ReflectColumns(v, factors[j], m - j, v + m, n - j - 1, m);
        ForThreads(m, [&](int i) {
            T& x = v[i - j];
            x = i < j ? T{0} : i == j ? 1 - factors[j] : x * -factors[j];
        });
        __syncthreads();
    }
}

// One block for each matrix.
template <class... Parameters, class... Arguments>
void LaunchFor(const Stack& s, const char* what, const Device& device, int64_t columns, void (*kernel)(Parameters...),
               const Arguments&... arguments) {
    int64_t parts = std::clamp<int64_t>((columns + kColumns - 1) / kColumns, 1, 65535);
    dim3 grid(static_cast<unsigned>(s.count), static_cast<unsigned>(parts));
    Launch(what, device, grid, s.larger_side() <= kWarp ? kWarp : kBlock, kernel, arguments...);
}

}  // namespace

void FactorLu(const Array& lu, const Array& pivots, const Array& info, const char* what) {
    Stack s{lu};
    VisitComputeDtype(lu.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        LaunchFor(s, what, lu.device(), 1, &LuBlock<T>, s.n, lu.data<T>(), pivots.data<int>(), info.data<int>());
    });
}

void SolveLu(const Array& lu, const Array& pivots, const Array& x, const char* what) {
    Stack s{lu};
    int64_t columns = x.shape().back();
    VisitComputeDtype(lu.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        LaunchFor(s, what, lu.device(), columns, &SolveLuBlock<T>, s.n, lu.data<T>(), pivots.data<int>(), columns,
                  x.data<T>());
    });
}

void FactorCholesky(const Array& a, const Array& info) {
    Stack s{a};
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        LaunchFor(s, "cholesky", a.device(), 1, &CholeskyBlock<T>, s.n, a.data<T>(), info.data<int>());
    });
}

void FactorQr(const Array& a, const Array& factors) {
    Stack s{a};
    VisitComputeDtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        LaunchFor(s, "qr", a.device(), 1, &QrBlock<T>, s.n, s.m, a.data<T>(), factors.data<T>());
    });
}

void ExpandQ(const Array& q, const Array& factors) {
    Stack s{q};
    VisitComputeDtype(q.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        LaunchFor(s, "qr", q.device(), 1, &ExpandQBlock<T>, s.n, s.m, factors.shape().back(), q.data<T>(),
                  factors.data<T>());
    });
}

}  // namespace chainerx::cuda::blocks
