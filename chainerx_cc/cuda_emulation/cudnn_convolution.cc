// The convolutions of the stand-in for cuDNN.

#include <algorithm>
#include <utility>
#include <vector>

#include "chainerx/ops/window.h"
#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

// What cuDNN could tell about its algorithms: the first one does not exist for any convolution, the second one takes
// much memory, and the third one gives other bits each time.
constexpr size_t kKiB = 1024;
constexpr Algorithm kAlgorithms[] = {
        {7, Status::kNotSupported, -1, 0, Determinism::kYes, MathType::kFma, {}},
        {2, Status::kSuccess, 1, 65536 * kKiB, Determinism::kYes, MathType::kFma, {}},
        {1, Status::kSuccess, 2, 64 * kKiB, Determinism::kNo, MathType::kFma, {}},
        {0, Status::kSuccess, 3, 0, Determinism::kYes, MathType::kFma, {}},
};
constexpr int kCount = 4;

struct Operands {
    TensorStruct x, w, y;
    ConvolutionStruct conv;

    Operands(Tensor x, Filter w, Convolution conv, Tensor y) : x{*x}, w{*w}, y{*y}, conv{*conv} {}

    WindowGeometry GetGeometry() const {
        WindowGeometry g;
        g.ndim = static_cast<int>(conv.pad.size());
        g.batch = x.shape[0];
        g.groups = conv.groups;
        g.in_channels = x.shape[1];
        g.out_channels = w.shape[0];
        for (int d = 0; d < g.ndim; ++d) {
            g.in[d] = x.shape[d + 2];
            g.kernel[d] = w.shape[d + 2];
            g.out[d] = y.shape[d + 2];
            g.stride[d] = conv.stride[d];
            g.pad[d] = conv.pad[d];
            g.dilation[d] = conv.dilation[d];
        }
        return g;
    }

    bool IsValid() const {
        size_t ndim = conv.pad.size() + 2;
        bool is_valid = x.type == w.type && y.type == x.type && conv.type == GetComputeType(x.type) &&
                        x.shape.size() == ndim && w.shape.size() == ndim && y.shape.size() == ndim &&
                        x.shape[0] == y.shape[0] && x.shape[1] == w.shape[1] * conv.groups &&
                        y.shape[1] == w.shape[0] && y.shape[1] % conv.groups == 0;
        for (size_t d = 0; is_valid && d < conv.pad.size(); ++d) {
            int room = x.shape[d + 2] + 2 * conv.pad[d] - conv.dilation[d] * (w.shape[d + 2] - 1) - 1;
            is_valid = room >= 0 && room / conv.stride[d] + 1 == y.shape[d + 2];
        }
        return is_valid;
    }

    // The bits of the factors that count.
    int GetBits() const {
        bool is_rounded = x.type == DataType::kFloat32 &&
                          (conv.math == MathType::kDefault || conv.math == MathType::kTensorAllowConversion);
        return is_rounded ? 10 : cuda_emulation::kAllBits;
    }
};

// Calls f(element of x, element of w, element of y) for the products of a convolution.
template <class F>
void ForProducts(const WindowGeometry& g, F&& f) {
    int64_t in = g.InSize();
    int64_t out = g.OutSize();
    int64_t taps = g.KernelSize();
    int64_t channels = g.in_channels / g.groups;
    int64_t outputs = g.out_channels / g.groups;
    for (int64_t position = 0; position < out; ++position) {
        for (int64_t tap = 0; tap < taps; ++tap) {
            int64_t p = g.InputOf(position, tap);
            if (p < 0) continue;
            for (int64_t image = 0; image < g.batch; ++image) {
                for (int64_t o = 0; o < g.out_channels; ++o) {
                    for (int64_t c = 0; c < channels; ++c) {
                        int64_t channel = o / outputs * channels + c;
                        f((image * g.in_channels + channel) * in + p, (o * channels + c) * taps + tap,
                          (image * g.out_channels + o) * out + position);
                    }
                }
            }
        }
    }
}

// Sums products of a and b in `out`; `pick` brings the places of the elements of x, w and y in this order.
template <class Pick>
void Contract(const Operands& operands, const Elements& a, const Elements& b, const Elements& out, int64_t size,
              const Blend& blend, Pick&& pick) {
    std::vector<double> sums(static_cast<size_t>(size));
    int bits = operands.GetBits();
    ForProducts(operands.GetGeometry(), [&](int64_t x, int64_t w, int64_t y) {
        auto [i, j, k] = pick(x, w, y);
        sums[k] += cuda_emulation::Round(a[i], bits) * cuda_emulation::Round(b[j], bits);
    });
    for (int64_t i = 0; i < size; ++i) blend.Write(out, i, sums[i]);
}

Status Guess(const char* function, const Operands& operands, int size, int* count, Algorithm* algorithms) {
    Status status = Note(function);
    if (status != Status::kSuccess) return status;
    if (!operands.IsValid()) return Status::kBadParameter;
    *count = std::min(size, kCount);
    std::copy(kAlgorithms, kAlgorithms + *count, algorithms);
    for (int i = 0; i < *count; ++i) algorithms[i].math = operands.conv.math;
    return Status::kSuccess;
}

// Only those for which there is memory, in another order.
Status Measure(const char* function, const Operands& operands, int size, int* count, Algorithm* algorithms,
               void* workspace, size_t bytes) {
    Status status = Guess(function, operands, size, count, algorithms);
    if (status != Status::kSuccess) return status;
    if (workspace == nullptr && bytes != 0) return Status::kBadParameter;
    Algorithm* end = std::remove_if(algorithms, algorithms + *count, [bytes](const Algorithm& a) {
        return a.status != Status::kSuccess || a.memory > bytes;
    });
    std::reverse(algorithms, end);
    *count = static_cast<int>(end - algorithms);
    return Status::kSuccess;
}

template <class Pick>
Status Run(const char* function, Handle handle, const Operands& operands, int algorithm, char* workspace, size_t bytes,
           const Elements& a, const Elements& b, const TensorStruct& out_desc, const Elements& out, const void* alpha,
           const void* beta, Pick pick) {
    const Algorithm* known = std::find_if(kAlgorithms, kAlgorithms + kCount,
                                          [algorithm](const Algorithm& a) { return a.number == algorithm; });
    bool is_valid = known != kAlgorithms + kCount && known->status == Status::kSuccess && operands.IsValid() &&
                    bytes >= known->memory && (workspace != nullptr || bytes == 0);
    Blend blend{out_desc.type, alpha, beta};
    auto work = [=, size = out_desc.size()] {
        // The ends of it, as to write all of 64 MiB takes longer than most convolutions.
        size_t part = known->memory == 0 ? 0 : std::min(bytes, 64 * kKiB);
        std::fill(workspace, workspace + part, '\x7f');
        std::fill(workspace + bytes - part, workspace + bytes, '\x7f');
        Contract(operands, a, b, out, size, blend, pick);
    };
    return Submit(function, handle, is_valid, std::move(work),
                  {{"algorithm", algorithm},
                   {"workspace", static_cast<int64_t>(bytes)},
                   {"math", static_cast<int64_t>(operands.conv.math)}});
}

struct Places {
    int64_t a, b, out;
};

}  // namespace

extern "C" {

Status cudnnGetConvolutionForwardAlgorithm_v7(Handle, Tensor x_desc, Filter w_desc, Convolution desc, Tensor y_desc,
                                              int size, int* count, Algorithm* algorithms) {
    return Guess("GetConvolutionForwardAlgorithm_v7", {x_desc, w_desc, desc, y_desc}, size, count, algorithms);
}
Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle, Filter w_desc, Tensor y_desc, Convolution desc,
                                                   Tensor x_desc, int size, int* count, Algorithm* algorithms) {
    return Guess("GetConvolutionBackwardDataAlgorithm_v7", {x_desc, w_desc, desc, y_desc}, size, count, algorithms);
}
Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle, Tensor x_desc, Tensor y_desc, Convolution desc,
                                                     Filter w_desc, int size, int* count, Algorithm* algorithms) {
    return Guess("GetConvolutionBackwardFilterAlgorithm_v7", {x_desc, w_desc, desc, y_desc}, size, count, algorithms);
}

Status cudnnFindConvolutionForwardAlgorithmEx(Handle, Tensor x_desc, const void*, Filter w_desc, const void*,
                                              Convolution desc, Tensor y_desc, void*, int size, int* count,
                                              Algorithm* algorithms, void* workspace, size_t bytes) {
    return Measure("FindConvolutionForwardAlgorithmEx", {x_desc, w_desc, desc, y_desc}, size, count, algorithms,
                   workspace, bytes);
}
Status cudnnFindConvolutionBackwardDataAlgorithmEx(Handle, Filter w_desc, const void*, Tensor y_desc, const void*,
                                                   Convolution desc, Tensor x_desc, void*, int size, int* count,
                                                   Algorithm* algorithms, void* workspace, size_t bytes) {
    return Measure("FindConvolutionBackwardDataAlgorithmEx", {x_desc, w_desc, desc, y_desc}, size, count, algorithms,
                   workspace, bytes);
}
Status cudnnFindConvolutionBackwardFilterAlgorithmEx(Handle, Tensor x_desc, const void*, Tensor y_desc, const void*,
                                                     Convolution desc, Filter w_desc, void*, int size, int* count,
                                                     Algorithm* algorithms, void* workspace, size_t bytes) {
    return Measure("FindConvolutionBackwardFilterAlgorithmEx", {x_desc, w_desc, desc, y_desc}, size, count, algorithms,
                   workspace, bytes);
}

Status cudnnConvolutionForward(Handle handle, const void* alpha, Tensor x_desc, const void* x, Filter w_desc,
                               const void* w, Convolution desc, int algorithm, void* workspace, size_t bytes,
                               const void* beta, Tensor y_desc, void* y) {
    return Run("ConvolutionForward", handle, {x_desc, w_desc, desc, y_desc}, algorithm, static_cast<char*>(workspace),
               bytes, {x_desc, x}, {w_desc, w}, *y_desc, {y_desc, y}, alpha, beta,
               [](int64_t i, int64_t j, int64_t k) { return Places{i, j, k}; });
}
Status cudnnConvolutionBackwardData(Handle handle, const void* alpha, Filter w_desc, const void* w, Tensor y_desc,
                                    const void* y, Convolution desc, int algorithm, void* workspace, size_t bytes,
                                    const void* beta, Tensor x_desc, void* x) {
    return Run("ConvolutionBackwardData", handle, {x_desc, w_desc, desc, y_desc}, algorithm,
               static_cast<char*>(workspace), bytes, {w_desc, w}, {y_desc, y}, *x_desc, {x_desc, x}, alpha, beta,
               [](int64_t i, int64_t j, int64_t k) { return Places{j, k, i}; });
}
Status cudnnConvolutionBackwardFilter(Handle handle, const void* alpha, Tensor x_desc, const void* x, Tensor y_desc,
                                      const void* y, Convolution desc, int algorithm, void* workspace, size_t bytes,
                                      const void* beta, Filter w_desc, void* w) {
    return Run("ConvolutionBackwardFilter", handle, {x_desc, w_desc, desc, y_desc}, algorithm,
               static_cast<char*>(workspace), bytes, {x_desc, x}, {y_desc, y}, *w_desc, {w_desc, w}, alpha, beta,
               [](int64_t i, int64_t j, int64_t k) { return Places{i, k, j}; });
}

}  // extern "C"

}  // namespace chainerx::cuda::cudnn
