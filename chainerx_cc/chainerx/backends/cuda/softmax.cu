// Softmax, its logarithm, and the cross entropy of it.

#include "chainerx/backends/cuda/block_reduce.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/report_fault.h"
#include "chainerx/core/axis_sizes.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/reduce_ops.h"
#include "chainerx/ops/reduction.h"

namespace chainerx::cuda {
namespace {

// Rows from this number on fill the GPU with a thread each.
constexpr int64_t kManyRows = 1 << 13;
// Longer rows are for a block, or for a large one.
constexpr int64_t kLongRow = 1 << 10;
constexpr int64_t kVeryLongRow = 1 << 13;
constexpr unsigned kLargeBlock = 1024;

// How many threads walk along a row together: neighbours of elements that are neighbours in memory.
template <unsigned kThreads>
struct Team {
    static constexpr unsigned kSize = kThreads;
};

template <class F>
void VisitTeam(const AxisSizes& s, F&& f) {
    if (s.inner > 1 && s.rows() >= kManyRows) return f(Team<1>{});
    if (s.inner > 1 || s.n <= kLongRow) return f(Team<kWarp>{});
    if (s.n <= kVeryLongRow) return f(Team<kBlock>{});
    f(Team<kLargeBlock>{});
}

template <unsigned kThreads, class... Parameters, class... Arguments>
void LaunchTeams(const char* what, const Device& device, const AxisSizes& s, void (*kernel)(AxisSizes, Parameters...),
                 const Arguments&... arguments) {
    constexpr unsigned kThreadsOfBlock = kThreads > kBlock ? kThreads : kBlock;
    Launch(what, device, BlocksFor(s.rows() * kThreads, kThreadsOfBlock), kThreadsOfBlock, kernel, s, arguments...);
}

// Elements of a row along the axis, which a team walks along.
template <unsigned kThreads>
struct Row {
    int64_t index;
    int64_t begin;
    int64_t step;
    unsigned lane;

    __device__ explicit Row(const AxisSizes& s)
        : index{ThreadIndex() / kThreads},
          // Divisions of long integers would take most of the time of a short row.
          begin{s.inner == 1 ? index * s.n : index / s.inner * s.n * s.inner + index % s.inner},
          step{s.inner},
          lane{threadIdx.x % kThreads} {}
    __device__ int64_t At(int64_t i) const { return begin + i * step; }
};

template <class C>
struct Normalizer {
    C max;
    C sum;  // of exp(x - max)
};

template <class C, unsigned kThreads, class T>
__device__ Normalizer<C> Normalize(const AxisSizes& s, const Row<kThreads>& row, const T* x) {
    C max = Lowest<C>();
#pragma unroll 4
    for (int64_t i = row.lane; i < s.n; i += kThreads) max = math::Max(max, static_cast<C>(x[row.At(i)]));
    max = CombineTeam<kThreads>(MaxOp<C>{}, max);
    C sum{0};
#pragma unroll 4
    for (int64_t i = row.lane; i < s.n; i += kThreads) sum += math::Exp(static_cast<C>(x[row.At(i)]) - max);
    return {max, CombineTeam<kThreads>(SumOp<C>{}, sum)};
}

template <unsigned kThreads, bool is_log, class T>
__global__ void SoftmaxRows(AxisSizes s, const T* x, T* y) {
    using C = typename ComputeType<T>::type;
    Row<kThreads> row{s};
    if (row.index >= s.rows()) return;
    Normalizer<C> z = Normalize<C>(s, row, x);
    C log_sum = z.max + math::Log(z.sum);
#pragma unroll 4
    for (int64_t i = row.lane; i < s.n; i += kThreads) {
        C v = static_cast<C>(x[row.At(i)]);
        y[row.At(i)] = static_cast<T>(is_log ? v - log_sum : math::Exp(v - z.max) / z.sum);
    }
}

template <unsigned kThreads, bool is_log, class T>
__global__ void SoftmaxGradRows(AxisSizes s, const T* y, const T* gy, T* gx) {
    using C = typename ComputeType<T>::type;
    Row<kThreads> row{s};
    if (row.index >= s.rows()) return;
    C sum{0};
#pragma unroll 4
    for (int64_t i = row.lane; i < s.n; i += kThreads) {
        C g = static_cast<C>(gy[row.At(i)]);
        sum += is_log ? g : g * static_cast<C>(y[row.At(i)]);
    }
    sum = CombineTeam<kThreads>(SumOp<C>{}, sum);
#pragma unroll 4
    for (int64_t i = row.lane; i < s.n; i += kThreads) {
        C g = static_cast<C>(gy[row.At(i)]);
        C v = static_cast<C>(y[row.At(i)]);
        gx[row.At(i)] = static_cast<T>(is_log ? g - math::Exp(v) * sum : v * (g - sum));
    }
}

template <bool is_log>
void Softmax(const Array& x, int8_t axis, const Array& y) {
    if (x.GetTotalSize() == 0) return;
    AxisSizes s{x.shape(), axis};
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        VisitTeam(s, [&](auto team) {
            LaunchTeams<team.kSize>("softmax", x.device(), s, &SoftmaxRows<team.kSize, is_log, T>, x.data<T>(),
                                    y.data<T>());
        });
    });
}

template <bool is_log>
void SoftmaxGrad(const Array& y, const Array& gy, int8_t axis, const Array& gx) {
    if (y.GetTotalSize() == 0) return;
    AxisSizes s{y.shape(), axis};
    VisitFloatDtype(y.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        VisitTeam(s, [&](auto team) {
            LaunchTeams<team.kSize>("softmax", y.device(), s, &SoftmaxGradRows<team.kSize, is_log, T>, y.data<T>(),
                                    gy.data<T>(), gx.data<T>());
        });
    });
}

// `C`: the type of log_sum.
template <unsigned kThreads, class T, class C>
__global__ void CrossEntropyRows(AxisSizes s, const T* x, const int64_t* t, int64_t ignore_label, T* loss, C* log_sum,
                                 Fault* fault) {
    Row<kThreads> row{s};
    int64_t index = row.index;
    if (index >= s.rows()) return;
    Normalizer<C> z = Normalize<C>(s, row, x);
    if (row.lane != 0) return;
    C total = z.max + math::Log(z.sum);
    log_sum[index] = total;
    int64_t label = t[index];
    bool is_label = label >= 0 && label < s.n;
    if (label == ignore_label || !is_label) {
        if (label != ignore_label) ReportFault(fault, FaultKind::kLabel, label, s.n);
        loss[index] = static_cast<T>(C{0});
    } else {
        loss[index] = static_cast<T>(total - static_cast<C>(x[row.At(label)]));
    }
}

template <class T, class C>
__global__ void CrossEntropyGradRows(AxisSizes s, const T* x, const int64_t* t, int64_t ignore_label, const C* log_sum,
                                     const T* gloss, T* gx) {
    int64_t i = ThreadIndex();
    if (i >= s.rows() * s.n) return;
    int64_t column = i % s.inner;
    int64_t k = i / s.inner % s.n;
    int64_t index = i / s.inner / s.n * s.inner + column;
    int64_t label = t[index];
    C g = label == ignore_label ? C{0} : static_cast<C>(gloss[index]);
    C p = math::Exp(static_cast<C>(x[i]) - log_sum[index]);
    gx[i] = static_cast<T>(label == ignore_label ? C{0} : (p - (k == label ? C{1} : C{0})) * g);
}

void CrossEntropy(const Array& x, const Array& t, int64_t ignore_label, const Array& loss, const Array& log_sum) {
    if (loss.GetTotalSize() == 0) return;
    AxisSizes s{x.shape(), 1};
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        VisitTeam(s, [&](auto team) {
            LaunchTeams<team.kSize>("softmax_cross_entropy", x.device(), s, &CrossEntropyRows<team.kSize, T, C>,
                                    x.data<T>(), t.data<int64_t>(), ignore_label, loss.data<T>(), log_sum.data<C>(),
                                    GetCudaDevice(x.device()).fault());
        });
    });
}

void CrossEntropyGrad(const Array& x, const Array& t, int64_t ignore_label, const Array& log_sum, const Array& gloss,
                      const Array& gx) {
    if (x.GetTotalSize() == 0) return;
    AxisSizes s{x.shape(), 1};
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        Launch("softmax_cross_entropy", x.device(), BlocksFor(x.GetTotalSize()), kBlock, &CrossEntropyGradRows<T, C>, s,
               x.data<T>(), t.data<int64_t>(), ignore_label, log_sum.data<C>(), gloss.data<T>(), gx.data<T>());
    });
}

}  // namespace

const CudaKernels g_softmax_kernels{[](Backend& backend) {
    kSoftmaxKernel.Register(backend, &Softmax<false>);
    kLogSoftmaxKernel.Register(backend, &Softmax<true>);
    kSoftmaxGradKernel.Register(backend, &SoftmaxGrad<false>);
    kLogSoftmaxGradKernel.Register(backend, &SoftmaxGrad<true>);
    kSoftmaxCrossEntropyKernel.Register(backend, &CrossEntropy);
    kSoftmaxCrossEntropyGradKernel.Register(backend, &CrossEntropyGrad);
}};

}  // namespace chainerx::cuda
