// Normalization, pooling and biases of the stand-in for cuDNN.

#include <algorithm>
#include <cmath>
#include <limits>

#include "chainerx/ops/window.h"
#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

// (batch, channels, positions)
struct Layout {
    explicit Layout(const TensorStruct* desc)
        : batch{desc->shape[0]}, channels{desc->shape[1]}, positions{desc->size() / batch / channels} {}
    int64_t batch, channels, positions;

    int64_t At(int64_t image, int64_t channel, int64_t position) const {
        return (image * channels + channel) * positions + position;
    }
    // Calls f(channel's element) for all elements of a channel.
    template <class F>
    void ForChannel(int64_t channel, F&& f) const {
        for (int64_t image = 0; image < batch; ++image) {
            for (int64_t position = 0; position < positions; ++position) f(At(image, channel, position));
        }
    }
};

bool AreParameters(const TensorStruct* parameters, const TensorStruct* x) {
    Sizes expected(x->shape.size(), 1);
    expected[1] = x->shape[1];
    return parameters->type == GetComputeType(x->type) && parameters->shape == expected;
}

bool IsKnown(BatchNormMode mode) {
    return mode == BatchNormMode::kSpatial || mode == BatchNormMode::kSpatialPersistent;
}

WindowGeometry GetGeometry(const PoolingStruct& pool, const TensorStruct& x, const TensorStruct& y) {
    WindowGeometry g;
    g.ndim = static_cast<int>(pool.kernel.size());
    for (int d = 0; d < g.ndim; ++d) {
        g.in[d] = x.shape[d + 2];
        g.out[d] = y.shape[d + 2];
        g.kernel[d] = pool.kernel[d];
        g.stride[d] = pool.stride[d];
        g.pad[d] = pool.pad[d];
        g.dilation[d] = 1;
    }
    return g;
}

bool IsValid(const PoolingStruct& pool, const TensorStruct& x, const TensorStruct& y) {
    size_t ndim = pool.kernel.size() + 2;
    bool is_valid = x.type == y.type && x.shape.size() == ndim && y.shape.size() == ndim && x.shape[0] == y.shape[0] &&
                    x.shape[1] == y.shape[1];
    for (size_t d = 0; is_valid && d < pool.kernel.size(); ++d) {
        int room = x.shape[d + 2] + 2 * pool.pad[d] - pool.kernel[d];
        is_valid = room >= 0 && room / pool.stride[d] + 1 == y.shape[d + 2];
    }
    return is_valid;
}

// Calls f(plane, output, input) for the elements of all windows.
template <class F>
void ForWindows(const WindowGeometry& g, int64_t planes, F&& f) {
    int64_t taps = g.KernelSize();
    for (int64_t plane = 0; plane < planes; ++plane) {
        for (int64_t output = 0, size = g.OutSize(); output < size; ++output) {
            for (int64_t tap = 0; tap < taps; ++tap) {
                int64_t input = g.InputOf(output, tap);
                if (input >= 0) f(plane, output, input);
            }
        }
    }
}

double GetDivisor(const WindowGeometry& g, PoolingMode mode, int64_t output) {
    return static_cast<double>(mode == PoolingMode::kAverageWithPadding ? g.KernelSize() : g.CountInside(output));
}

}  // namespace

extern "C" {

Status cudnnBatchNormalizationForwardTraining(Handle handle, BatchNormMode mode, const void* alpha, const void* beta,
                                              Tensor x_desc, const void* x, Tensor y_desc, void* y,
                                              Tensor parameter_desc, const void* gamma, const void* bias, double factor,
                                              void* running_mean, void* running_var, double eps, void* mean,
                                              void* inv_std) {
    bool is_valid = IsKnown(mode) && *x_desc == *y_desc && AreParameters(parameter_desc, x_desc) && eps >= 0 &&
                    (running_mean == nullptr) == (running_var == nullptr);
    DataType type = parameter_desc->type;
    Blend blend{x_desc->type, alpha, beta};
    auto work = [=, layout = Layout{x_desc}, xs = Elements{x_desc, x}, ys = Elements{y_desc, y},
                 gammas = Elements{type, gamma}, biases = Elements{type, bias}, means = Elements{type, mean},
                 inv_stds = Elements{type, inv_std}, running_means = Elements{type, running_mean},
                 running_vars = Elements{type, running_var}] {
        auto n = static_cast<double>(layout.batch * layout.positions);
        for (int64_t c = 0; c < layout.channels; ++c) {
            double sum = 0;
            layout.ForChannel(c, [&](int64_t i) { sum += xs[i]; });
            double average = sum / n;
            double squares = 0;
            layout.ForChannel(c, [&](int64_t i) { squares += (xs[i] - average) * (xs[i] - average); });
            double scale = 1 / std::sqrt(squares / n + eps);
            means.Set(c, average);
            inv_stds.Set(c, scale);
            layout.ForChannel(
                    c, [&](int64_t i) { blend.Write(ys, i, (xs[i] - average) * scale * gammas[c] + biases[c]); });
            if (running_means.data == nullptr) continue;
            running_means.Set(c, (1 - factor) * running_means[c] + factor * average);
            running_vars.Set(c, (1 - factor) * running_vars[c] + factor * squares / (n - 1));
        }
    };
    return Submit("BatchNormalizationForwardTraining", handle, is_valid, work, {{"mode", static_cast<int>(mode)}});
}

Status cudnnBatchNormalizationForwardInference(Handle handle, BatchNormMode mode, const void* alpha, const void* beta,
                                               Tensor x_desc, const void* x, Tensor y_desc, void* y,
                                               Tensor parameter_desc, const void* gamma, const void* bias,
                                               const void* mean, const void* var, double eps) {
    bool is_valid = IsKnown(mode) && *x_desc == *y_desc && AreParameters(parameter_desc, x_desc) && eps >= 0;
    DataType type = parameter_desc->type;
    Blend blend{x_desc->type, alpha, beta};
    auto work = [=, layout = Layout{x_desc}, xs = Elements{x_desc, x}, ys = Elements{y_desc, y},
                 gammas = Elements{type, gamma}, biases = Elements{type, bias}, means = Elements{type, mean},
                 vars = Elements{type, var}] {
        for (int64_t c = 0; c < layout.channels; ++c) {
            double scale = gammas[c] / std::sqrt(vars[c] + eps);
            layout.ForChannel(c, [&](int64_t i) { blend.Write(ys, i, (xs[i] - means[c]) * scale + biases[c]); });
        }
    };
    return Submit("BatchNormalizationForwardInference", handle, is_valid, work);
}

Status cudnnBatchNormalizationBackward(Handle handle, BatchNormMode mode, const void* alpha, const void* beta,
                                       const void* alpha_parameters, const void* beta_parameters, Tensor x_desc,
                                       const void* x, Tensor gy_desc, const void* gy, Tensor gx_desc, void* gx,
                                       Tensor parameter_desc, const void* gamma, void* ggamma, void* gbeta, double eps,
                                       const void* mean, const void* inv_std) {
    bool is_valid = IsKnown(mode) && *x_desc == *gy_desc && *x_desc == *gx_desc &&
                    AreParameters(parameter_desc, x_desc) && eps >= 0 && mean != nullptr && inv_std != nullptr;
    DataType type = parameter_desc->type;
    Blend blend{x_desc->type, alpha, beta};
    Blend parameter_blend{x_desc->type, alpha_parameters, beta_parameters};
    auto work = [=, layout = Layout{x_desc}, xs = Elements{x_desc, x}, gys = Elements{gy_desc, gy},
                 gxs = Elements{gx_desc, gx}, gammas = Elements{type, gamma}, ggammas = Elements{type, ggamma},
                 gbetas = Elements{type, gbeta}, means = Elements{type, mean}, inv_stds = Elements{type, inv_std}] {
        auto n = static_cast<double>(layout.batch * layout.positions);
        for (int64_t c = 0; c < layout.channels; ++c) {
            double scale = inv_stds[c];
            auto normalize = [&](int64_t i) { return (xs[i] - means[c]) * scale; };
            double sum = 0;
            double product = 0;
            layout.ForChannel(c, [&](int64_t i) {
                sum += gys[i];
                product += gys[i] * normalize(i);
            });
            layout.ForChannel(c, [&](int64_t i) {
                blend.Write(gxs, i, gammas[c] * scale * (gys[i] - sum / n - normalize(i) * product / n));
            });
            parameter_blend.Write(ggammas, c, product);
            parameter_blend.Write(gbetas, c, sum);
        }
    };
    return Submit("BatchNormalizationBackward", handle, is_valid, work, {{"mode", static_cast<int>(mode)}});
}

Status cudnnPoolingForward(Handle handle, Pooling desc, const void* alpha, Tensor x_desc, const void* x,
                           const void* beta, Tensor y_desc, void* y) {
    Blend blend{x_desc->type, alpha, beta};
    PoolingMode mode = desc->mode;
    auto work = [=, g = GetGeometry(*desc, *x_desc, *y_desc), xs = Elements{x_desc, x}, ys = Elements{y_desc, y},
                 planes = int64_t{x_desc->shape[0]} * x_desc->shape[1]] {
        std::vector<double> results(static_cast<size_t>(planes * g.OutSize()));
        ForWindows(g, planes, [&](int64_t plane, int64_t output, int64_t input) {
            results[plane * g.OutSize() + output] += xs[plane * g.InSize() + input] / GetDivisor(g, mode, output);
        });
        for (size_t i = 0; i < results.size(); ++i) blend.Write(ys, static_cast<int64_t>(i), results[i]);
    };
    return Submit("PoolingForward", handle, IsValid(*desc, *x_desc, *y_desc), work, {{"mode", static_cast<int>(mode)}});
}

Status cudnnPoolingBackward(Handle handle, Pooling desc, const void* alpha, Tensor y_desc, const void*, Tensor gy_desc,
                            const void* gy, Tensor x_desc, const void*, const void* beta, Tensor gx_desc, void* gx) {
    PoolingMode mode = desc->mode;
    bool is_valid = *y_desc == *gy_desc && *x_desc == *gx_desc && IsValid(*desc, *x_desc, *y_desc);
    Blend blend{x_desc->type, alpha, beta};
    auto work = [=, g = GetGeometry(*desc, *x_desc, *y_desc), gys = Elements{gy_desc, gy}, gxs = Elements{gx_desc, gx},
                 planes = int64_t{x_desc->shape[0]} * x_desc->shape[1]] {
        std::vector<double> results(static_cast<size_t>(planes * g.InSize()));
        ForWindows(g, planes, [&](int64_t plane, int64_t output, int64_t input) {
            results[plane * g.InSize() + input] += gys[plane * g.OutSize() + output] / GetDivisor(g, mode, output);
        });
        for (size_t i = 0; i < results.size(); ++i) blend.Write(gxs, static_cast<int64_t>(i), results[i]);
    };
    return Submit("PoolingBackward", handle, is_valid, work, {{"mode", static_cast<int>(mode)}});
}

}  // extern "C"

}  // namespace chainerx::cuda::cudnn
