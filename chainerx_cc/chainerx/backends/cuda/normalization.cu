// Batch and layer normalization by plain kernels, which for batch normalization are the reference for those of cuDNN.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "chainerx/backends/cuda/cudnn_kernels.h"
#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/reduce.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/normalization.h"

namespace chainerx::cuda {
namespace {

// A group of elements with common statistics, as x[begin + i / width * step + i % width] for i < n: a channel of
// (batch, channels, spatial) or a row of (rows, width).
struct Group {
    int64_t n;
    int64_t begin;
    int64_t width;
    int64_t step;

    __device__ int64_t At(int64_t i) const { return begin + i / width * step + i % width; }
};

struct Channels {
    int64_t batch;
    int64_t channels;
    int64_t spatial;
    __device__ Group At(int64_t c) const { return {batch * spatial, c * spatial, spatial, channels * spatial}; }
};

struct RowGroup {
    int64_t n;
    int64_t begin;
    __device__ int64_t At(int64_t i) const { return begin + i; }
};

struct Rows {
    int64_t width;
    __device__ RowGroup At(int64_t row) const { return {width, row * width}; }
};

template <class C>
struct Pair {
    C a;
    C b;
};
template <class C>
struct AddPairs {
    __device__ Pair<C> Init() const { return {C{0}, C{0}}; }
    __device__ Pair<C> Combine(Pair<C> x, Pair<C> y) const { return {x.a + y.a, x.b + y.b}; }
};

// Sums two values for each element of a group; all threads of the block get the result.
template <class C, class G, class F>
__device__ Pair<C> SumOver(const G& group, F&& value) {
    Pair<C> sum{C{0}, C{0}};
    for (int64_t i = threadIdx.x; i < group.n; i += kBlock) {
        Pair<C> v = value(group.At(i), i);
        sum = {sum.a + v.a, sum.b + v.b};
    }
    return CombineBlock(AddPairs<C>{}, sum);
}

// The mean and the variance of a group; deviations from the mean are summed in a second pass, so they do not cancel.
template <class C, class G, class T>
__device__ Pair<C> Moments(const G& group, const T* x) {
    C n = static_cast<C>(group.n);
    C mean = SumOver<C>(group, [x](int64_t k, int64_t) { return Pair<C>{static_cast<C>(x[k]), C{0}}; }).a / n;
    C var = SumOver<C>(group,
                       [x, mean](int64_t k, int64_t) {
                           C d = static_cast<C>(x[k]) - mean;
                           return Pair<C>{d * d, C{0}};
                       })
                    .a /
            n;
    return {mean, var};
}

// One block for each group, whose factors are gamma[c] (kByGroup) or gamma[i]. The running statistics may be null.
template <bool kByGroup, class T, class C, class Layout>
__global__ void NormGroups(Layout layout, const T* x, const C* gamma, const C* beta, double eps, double decay,
                           double adjust, C* running_mean, C* running_var, T* y, C* mean, C* inv_std) {
    int64_t c = blockIdx.x;
    auto group = layout.At(c);
    Pair<C> moments = Moments<C>(group, x);
    C scale = C{1} / math::Sqrt(moments.b + static_cast<C>(eps));
    for (int64_t i = threadIdx.x; i < group.n; i += kBlock) {
        int64_t k = group.At(i);
        int64_t parameter = kByGroup ? c : i;
        y[k] = Convert<C, T>((static_cast<C>(x[k]) - moments.a) * scale * gamma[parameter] + beta[parameter]);
    }
    if (threadIdx.x != 0) return;
    mean[c] = moments.a;
    inv_std[c] = scale;
    if (running_mean == nullptr) return;
    running_mean[c] = static_cast<C>(decay * running_mean[c] + (1 - decay) * moments.a);
    running_var[c] = static_cast<C>(decay * running_var[c] + (1 - decay) * adjust * moments.b);
}

template <class T, class C>
__global__ void FixedBatchNormElements(int64_t n, Channels layout, const T* x, const C* gamma, const C* beta,
                                       const C* mean, const C* var, double eps, T* y) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    int64_t c = i / layout.spatial % layout.channels;
    C scale = C{1} / math::Sqrt(var[c] + static_cast<C>(eps));
    y[i] = Convert<C, T>((static_cast<C>(x[i]) - mean[c]) * scale * gamma[c] + beta[c]);
}

// Gradients for a group, whose factors are gamma[c] (kByGroup) or gamma[i].
template <bool kByGroup, class T, class C, class Layout>
__global__ void NormGradGroups(Layout layout, const T* x, const C* gamma, const T* gy, const C* mean, const C* inv_std,
                               T* gx, C* ggamma, C* gbeta) {
    int64_t c = blockIdx.x;
    auto group = layout.At(c);
    C m = mean[c];
    C scale = inv_std[c];
    // Sums of the gradients of the normalized values, and of their products with these values.
    Pair<C> sums = SumOver<C>(group, [&](int64_t k, int64_t i) {
        C g = static_cast<C>(gy[k]) * (kByGroup ? C{1} : gamma[i]);
        return Pair<C>{g, g * (static_cast<C>(x[k]) - m) * scale};
    });
    C n = static_cast<C>(group.n);
    C factor = kByGroup ? gamma[c] : C{1};
    for (int64_t i = threadIdx.x; i < group.n; i += kBlock) {
        int64_t k = group.At(i);
        C g = static_cast<C>(gy[k]) * (kByGroup ? C{1} : gamma[i]);
        C normalized = (static_cast<C>(x[k]) - m) * scale;
        gx[k] = Convert<C, T>(factor * scale * (g - sums.a / n - normalized * sums.b / n));
    }
    if (kByGroup && threadIdx.x == 0) {
        gbeta[c] = sums.a;
        ggamma[c] = sums.b;
    }
}

// Gradients of the parameters of a layer normalization, (beta, gamma) for each column: sums over a piece of the rows.
template <class T, class C>
__global__ void LayerNormParameterParts(int64_t rows, int64_t width, int64_t piece, const T* x, const T* gy,
                                        const C* mean, const C* inv_std, Pair<C>* parts) {
    CombineColumns(
            AddPairs<C>{}, width, rows, piece,
            [&](int64_t column) {
                return [=](int64_t row) {
                    int64_t k = row * width + column;
                    C g = static_cast<C>(gy[k]);
                    return Pair<C>{g, g * (static_cast<C>(x[k]) - mean[row]) * inv_std[row]};
                };
            },
            [&](int64_t k, const Pair<C>& sums) { parts[k] = sums; });
}

template <class C>
__global__ void LayerNormParameters(int64_t pieces, int64_t width, const Pair<C>* parts, C* ggamma, C* gbeta) {
    CombineColumns(
            AddPairs<C>{}, width, pieces, pieces,
            [&](int64_t column) { return [=](int64_t i) { return parts[i * width + column]; }; },
            [&](int64_t column, const Pair<C>& sums) {
                gbeta[column] = sums.a;
                ggamma[column] = sums.b;
            });
}

template <class T, class C>
void SumLayerNormParameters(Device& device, int64_t rows, int64_t width, const T* x, const T* gy, const C* mean,
                            const C* inv_std, C* ggamma, C* gbeta) {
    constexpr int64_t kLeastPiece = 64;
    int64_t blocks = (width + kWarp - 1) / kWarp;
    Pieces pieces = MakePieces(rows, blocks, kLeastPiece);
    StoragePtr scratch = AllocateScratch(device, width * pieces.count * sizeof(Pair<C>));
    auto* parts = static_cast<Pair<C>*>(scratch->data());
    dim3 block(kWarp, kColumnRows);
    Launch("layer_norm", device, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(pieces.count)), block,
           &LayerNormParameterParts<T, C>, rows, width, pieces.length, x, gy, mean, inv_std, parts);
    Launch("layer_norm", device, dim3(static_cast<unsigned>(blocks)), block, &LayerNormParameters<C>, pieces.count,
           width, parts, ggamma, gbeta);
}

void BatchNorm(const Array& x, const Array& gamma_, const Array& beta_, const Array& running_mean,
               const Array& running_var, const BatchNormOptions& options, const Array& y, const Array& mean,
               const Array& inv_std) {
    double eps = options.eps;
    double decay = options.decay;
    Channels layout{x.shape()[0], x.shape()[1], x.shape()[2]};
    int64_t n = layout.batch * layout.spatial;
    Dtype dtype = mean.dtype();
    if (n == 0) {
        kFillKernel(mean.device(), mean, Scalar{0});
        kFillKernel(mean.device(), inv_std, Scalar{1 / std::sqrt(eps)});
        return;
    }
    if (layout.channels == 0) return;
    Array gamma = Input(gamma_, dtype);
    Array beta = Input(beta_, dtype);
    Output means{running_mean ? running_mean : mean, dtype};
    Output vars{running_var ? running_var : mean, dtype};
    if (running_mean) {
        if (means.buffer().raw_data() != running_mean.raw_data()) CopyData(running_mean, means.buffer());
        if (vars.buffer().raw_data() != running_var.raw_data()) CopyData(running_var, vars.buffer());
    }
    auto count = static_cast<double>(n);
    void* mean_data = running_mean ? means.buffer().raw_data() : nullptr;
    void* var_data = running_mean ? vars.buffer().raw_data() : nullptr;
    if (!CudnnBatchNorm(x, gamma, beta, mean_data, var_data, eps, decay, y, mean, inv_std)) {
        VisitFloatDtype(x.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            VisitComputeDtype(dtype, [&](auto compute_tag) {
                using C = typename decltype(compute_tag)::type;
                Launch("batch_norm", x.device(), dim3(static_cast<unsigned>(layout.channels)), kBlock,
                       &NormGroups<true, T, C, Channels>, layout, x.data<T>(), gamma.data<C>(), beta.data<C>(), eps,
                       decay, count / std::max(count - 1, 1.0), static_cast<C*>(mean_data), static_cast<C*>(var_data),
                       y.data<T>(), mean.data<C>(), inv_std.data<C>());
            });
        });
    }
    if (running_mean) {
        means.Finish();
        vars.Finish();
    }
}

void FixedBatchNorm(const Array& x, const Array& gamma_, const Array& beta_, const Array& mean_, const Array& var_,
                    double eps, const Array& y) {
    Channels layout{x.shape()[0], x.shape()[1], x.shape()[2]};
    int64_t n = x.GetTotalSize();
    if (n == 0) return;
    Dtype dtype = GetComputeDtype(
            PromoteTypes(PromoteTypes(x.dtype(), gamma_.dtype()), PromoteTypes(mean_.dtype(), var_.dtype())));
    Array gamma = Input(gamma_, dtype);
    Array beta = Input(beta_, dtype);
    Array mean = Input(mean_, dtype);
    Array var = Input(var_, dtype);
    if (CudnnFixedBatchNorm(x, gamma, beta, mean, var, eps, y)) return;
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        VisitComputeDtype(dtype, [&](auto compute_tag) {
            using C = typename decltype(compute_tag)::type;
            Launch("fixed_batch_norm", x.device(), BlocksFor(n), kBlock, &FixedBatchNormElements<T, C>, n, layout,
                   x.data<T>(), gamma.data<C>(), beta.data<C>(), mean.data<C>(), var.data<C>(), eps, y.data<T>());
        });
    });
}

void LayerNorm(const Array& x, const Array& gamma_, const Array& beta_, double eps, const Array& y, const Array& mean,
               const Array& inv_std) {
    int64_t rows = x.shape()[0];
    if (x.GetTotalSize() == 0) return;
    Dtype dtype = mean.dtype();
    Array gamma = Input(gamma_, dtype);
    Array beta = Input(beta_, dtype);
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        VisitComputeDtype(dtype, [&](auto compute_tag) {
            using C = typename decltype(compute_tag)::type;
            C* no_running = nullptr;
            Launch("layer_norm", x.device(), dim3(static_cast<unsigned>(rows)), kBlock, &NormGroups<false, T, C, Rows>,
                   Rows{x.shape()[1]}, x.data<T>(), gamma.data<C>(), beta.data<C>(), eps, 0.0, 0.0, no_running,
                   no_running, y.data<T>(), mean.data<C>(), inv_std.data<C>());
        });
    });
}

// `f(TypeTag<T>, TypeTag<C>, gamma, ggamma, gbeta)` with parameters in the dtype of the computation.
template <class F>
void Backward(const Array& x, const Array& gamma_, const Array& mean, const Array& ggamma_, const Array& gbeta_,
              F&& f) {
    if (x.GetTotalSize() == 0) {
        kFillKernel(ggamma_.device(), ggamma_, Scalar{0});
        kFillKernel(gbeta_.device(), gbeta_, Scalar{0});
        return;
    }
    Dtype dtype = mean.dtype();
    Array gamma = Input(gamma_, dtype);
    Output ggamma{ggamma_, dtype};
    Output gbeta{gbeta_, dtype};
    VisitFloatDtype(x.dtype(), [&](auto tag) {
        VisitComputeDtype(dtype, [&](auto compute_tag) {
            using C = typename decltype(compute_tag)::type;
            f(tag, gamma.data<C>(), ggamma.data<C>(), gbeta.data<C>());
        });
    });
    ggamma.Finish();
    gbeta.Finish();
}

void BatchNormGrad(const Array& x, const Array& gamma, const Array& gy, const Array& mean, const Array& inv_std,
                   const Array& gx, const Array& ggamma, const Array& gbeta) {
    Channels layout{x.shape()[0], x.shape()[1], x.shape()[2]};
    Backward(x, gamma, mean, ggamma, gbeta, [&](auto tag, auto* gamma_, auto* ggamma_, auto* gbeta_) {
        using T = typename decltype(tag)::type;
        using C = std::remove_pointer_t<decltype(ggamma_)>;
        if (CudnnBatchNormGrad(x, gamma_, gy, mean, inv_std, gx, ggamma_, gbeta_)) return;
        Launch("batch_norm", x.device(), dim3(static_cast<unsigned>(layout.channels)), kBlock,
               &NormGradGroups<true, T, C, Channels>, layout, x.data<T>(), gamma_, gy.data<T>(), mean.data<C>(),
               inv_std.data<C>(), gx.data<T>(), ggamma_, gbeta_);
    });
}

void LayerNormGrad(const Array& x, const Array& gamma, const Array& gy, const Array& mean, const Array& inv_std,
                   const Array& gx, const Array& ggamma, const Array& gbeta) {
    int64_t rows = x.shape()[0];
    int64_t width = x.shape()[1];
    Backward(x, gamma, mean, ggamma, gbeta, [&](auto tag, auto* gamma_, auto* ggamma_, auto* gbeta_) {
        using T = typename decltype(tag)::type;
        using C = std::remove_pointer_t<decltype(ggamma_)>;
        const T* xs = x.data<T>();
        const T* gys = gy.data<T>();
        const C* means = mean.data<C>();
        const C* scales = inv_std.data<C>();
        Launch("layer_norm", x.device(), dim3(static_cast<unsigned>(rows)), kBlock, &NormGradGroups<false, T, C, Rows>,
               Rows{width}, xs, gamma_, gys, means, scales, gx.data<T>(), ggamma_, gbeta_);
        SumLayerNormParameters(x.device(), rows, width, xs, gys, means, scales, ggamma_, gbeta_);
    });
}

}  // namespace

const CudaKernels g_normalization_kernels{[](Backend& backend) {
    kBatchNormKernel.Register(backend, &BatchNorm);
    kBatchNormGradKernel.Register(backend, &BatchNormGrad);
    kFixedBatchNormKernel.Register(backend, &FixedBatchNorm);
    kLayerNormKernel.Register(backend, &LayerNorm);
    kLayerNormGradKernel.Register(backend, &LayerNormGrad);
}};

}  // namespace chainerx::cuda
