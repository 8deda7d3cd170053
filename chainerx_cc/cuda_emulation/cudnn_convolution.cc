// The convolutions of the stand-in for cuDNN.

#include <algorithm>
#include <utility>

#include "cudnn_graph_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

constexpr int64_t kKiB = 1024;

WindowGeometry GetGeometry(const ConvolutionStruct& c) {
    WindowGeometry g;
    g.ndim = static_cast<int>(c.pad.size());
    g.batch = c.x.shape[0];
    g.groups = c.groups();
    g.in_channels = c.x.shape[1];
    g.out_channels = c.w.shape[0];
    for (int d = 0; d < g.ndim; ++d) {
        g.in[d] = c.x.shape[d + 2];
        g.kernel[d] = c.w.shape[d + 2];
        g.out[d] = c.y.shape[d + 2];
        g.stride[d] = c.stride[d];
        g.pad[d] = c.pad[d];
        g.dilation[d] = c.dilation[d];
    }
    return g;
}

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

// Computes one of the arrays from the others.
void Contract(const ConvolutionStruct& c, int bits, const Elements& x, const Elements& w, const Elements& y) {
    bool is_x = c.operation == DescriptorType::kBackwardData;
    bool is_w = c.operation == DescriptorType::kBackwardFilter;
    const Elements& out = is_x ? x : is_w ? w : y;
    const Elements& a = is_x ? w : x;
    const Elements& b = is_x || is_w ? y : w;
    std::vector<double> sums(static_cast<size_t>((is_x ? c.x : is_w ? c.w : c.y).size()));
    ForProducts(GetGeometry(c), [&](int64_t i, int64_t j, int64_t k) {
        double product =
                cuda_emulation::Round(a[is_x ? j : i], bits) * cuda_emulation::Round(b[is_x || is_w ? k : j], bits);
        sums[is_x ? i : is_w ? j : k] += product;
    });
    for (size_t i = 0; i < sums.size(); ++i) out.Set(static_cast<int64_t>(i), sums[i]);
}

// Whether an array has a place that is aligned.
bool IsAt(const std::map<int64_t, void*>& places, const GraphTensor& tensor) {
    auto place = places.find(tensor.id);
    return place != places.end() && place->second != nullptr &&
           reinterpret_cast<uintptr_t>(place->second) % static_cast<uintptr_t>(tensor.alignment) == 0;
}

}  // namespace

const std::vector<Engine>& GetEngines() {
    static const auto* engines = new std::vector<Engine>{
            {7, false, HeuristicMode::kA, 0, {}, {}},
            {6, true, HeuristicMode::kA, 0, {}, {BehaviorNote::kRuntimeCompilation}},
            {5, true, HeuristicMode::kA, 0, {NumericalNote::kTensorCore, NumericalNote::kDownConvertInputs}, {}},
            {4, true, HeuristicMode::kA, 0, {NumericalNote::kTensorCore}, {}},
            {2, true, HeuristicMode::kA, 65536 * kKiB, {}, {}},
            {1, true, HeuristicMode::kA, 64 * kKiB, {NumericalNote::kNondeterministic}, {}},
            {0, true, HeuristicMode::kFallback, 0, {}, {}},
    };
    return *engines;
}

const char* GetOperationName(DescriptorType operation) {
    if (operation == DescriptorType::kForward) return "ConvolutionForward";
    return operation == DescriptorType::kBackwardData ? "ConvolutionBackwardData" : "ConvolutionBackwardFilter";
}

bool ConvolutionStruct::IsValid() const {
    size_t ndim = pad.size() + 2;
    bool is_valid = x.type == w.type && y.type == x.type && type == GetComputeType(x.type) && x.shape.size() == ndim &&
                    w.shape.size() == ndim && y.shape.size() == ndim && x.shape[0] == y.shape[0] &&
                    x.shape[1] % w.shape[1] == 0 && y.shape[1] == w.shape[0] && y.shape[1] % groups() == 0 &&
                    x.id != w.id && x.id != y.id && w.id != y.id;
    for (size_t d = 0; is_valid && d < pad.size(); ++d) {
        int room = x.shape[d + 2] + 2 * pad[d] - dilation[d] * (w.shape[d + 2] - 1) - 1;
        is_valid = room >= 0 && room / stride[d] + 1 == y.shape[d + 2];
    }
    return is_valid;
}

Status Convolve(Handle handle, const Engine& engine, const ConvolutionStruct& convolution, bool is_valid,
                const std::map<int64_t, void*>& places, void* workspace) {
    is_valid = is_valid && IsAt(places, convolution.x) && IsAt(places, convolution.w) && IsAt(places, convolution.y) &&
               (workspace != nullptr || engine.memory == 0);
    auto work = [places, &engine, c = convolution, memory = engine.memory, bytes = static_cast<char*>(workspace)] {
        // The ends of it, as to write all of 64 MiB takes longer than most convolutions.
        int64_t part = std::min(memory, 64 * kKiB);
        std::fill(bytes, bytes + part, '\x7f');
        std::fill(bytes + memory - part, bytes + memory, '\x7f');
        // The bits of the factors that count.
        bool is_rounded = c.x.type == DataType::kFloat32 && engine.HasTensorCores();
        Contract(c, is_rounded ? 10 : cuda_emulation::kAllBits, {c.x.type, places.at(c.x.id)},
                 {c.w.type, places.at(c.w.id)}, {c.y.type, places.at(c.y.id)});
    };
    // Engines of higher numbers submit more, which takes longer.
    cudaLaunchConfig_t config{};
    config.stream = handle->stream;
    for (int i = 0; i < engine.number; ++i) cudaEmulateLaunch(config, [] {});
    return Submit(GetOperationName(convolution.operation), handle, is_valid, std::move(work),
                  {{"engine", engine.number}, {"workspace", engine.memory}});
}

}  // namespace chainerx::cuda::cudnn
