// Layers of stacked recurrent networks.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/gemm_packed.h"
#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/packed_recurrent.h"
#include "chainerx/ops/rnn.h"
#include "chainerx/ops/rnn_steps.h"

namespace chainerx::native {
namespace {

// The number of multiply-adds above which the interpreter lock is released.
constexpr int64_t kRnnLayerBlocking = 262144;

// The matrix by which each step multiplies, packed if that is faster.
template <class T>
class StepMatrix {
public:
    // op(B), k x n
    StepMatrix(const RnnLayer& layer, bool trans, int64_t k, int64_t n, const T* b)
        : trans_{trans}, k_{k}, n_{n}, b_{b} {
        int64_t batch = layer.h0.shape()[0];
        if (batch >= 4 && batch <= 128 && layer.lengths.size() >= 3 && n >= 32) {
            packed_.emplace(trans, k, n, b, trans ? k : n);
        }
    }
    // C = A op(B) + beta C, with beta zero or one
    void Multiply(int64_t m, const T* a, T beta, T* c) const {
        if (packed_.has_value()) {
            packed_->Multiply({m, a, k_, beta != 0, nullptr, false, c, n_});
        } else {
            Gemm<T>(false, trans_, m, n_, k_, T{1}, a, k_, b_, trans_ ? k_ : n_, beta, c, n_);
        }
    }

private:
    bool trans_;
    int64_t k_;
    int64_t n_;
    const T* b_;
    std::optional<PackedMatrix<T>> packed_;
};

int64_t CountGates(RnnKind kind) { return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1; }

GateLayout Blocks(int64_t units, int64_t n) { return {n * units, 1, {0, units, 2 * units, 3 * units}}; }

bool IsLong(const RnnLayer& layer) { return layer.x_gates.GetTotalSize() * layer.y.shape()[1] > kRnnLayerBlocking; }

// `wh`: multiplies states by the transposed recurrent matrix.
template <class T, class Multiplier>
void Forward(const RnnLayer& layer, const Multiplier& wh, const Array& h_, const Array& c_) {
    int64_t units = layer.y.shape()[1];
    int64_t gates = CountGates(layer.kind);
    int64_t width = gates * units;
    GateLayout layout = Blocks(units, gates);
    T* h = h_.data<T>();
    std::copy_n(layer.h0.data<T>(), layer.h0.GetTotalSize(), h);
    T* c = nullptr;
    if (layer.kind == RnnKind::kLstm) {
        c = c_.data<T>();
        std::copy_n(layer.c0.data<T>(), layer.c0.GetTotalSize(), c);
    }
    ForSteps(layer, false, [&](int64_t start, int64_t n) {
        T* x = layer.x_gates.data<T>() + start * width;
        T* y = layer.y.data<T>() + start * units;
        if (layer.kind == RnnKind::kGru) {
            T* s = layer.h_gates.data<T>() + start * width;
            for (int64_t b = 0; b < n; ++b) std::copy_n(layer.bh.data<T>(), width, s + b * width);
            wh.Multiply(n, h, T{1}, s);
            GruForward<T>(n, units, layout, x, s, h, y);
        } else {
            wh.Multiply(n, h, T{1}, x);
            if (layer.kind == RnnKind::kLstm) {
                T* cell = layer.cells.data<T>() + start * units;
                LstmForward<T>(n, units, layout, x, c, cell, y);
                std::copy_n(cell, n * units, c);
            } else {
                SimpleRnnForward<T>(n * units, layer.kind == RnnKind::kRelu, x, y);
            }
        }
        std::copy_n(y, n * units, h);
    });
}

// The states before each step, from the first ones and those after each step.
template <class T>
void FindPrevious(const RnnLayer& layer, const T* first, const T* after, int64_t units, T* before) {
    const T* previous = first;
    int64_t known = 0;  // sequences of the previous step
    ForSteps(layer, false, [&](int64_t start, int64_t n) {
        int64_t shared = std::min(n, known);
        std::copy_n(previous, shared * units, before + start * units);
        std::copy_n(first + shared * units, (n - shared) * units, before + (start + shared) * units);
        previous = after + start * units;
        known = n;
    });
}

template <class T>
void Backward(const RnnLayer& layer, const Array& gy_, const Array& gh_, const Array& gc_, const Array& gx_gates,
              const Array& gh_gates, const Array& h_prev_) {
    int64_t units = layer.y.shape()[1];
    int64_t gates = CountGates(layer.kind);
    int64_t width = gates * units;
    StepMatrix<T> wh{layer, false, width, units, layer.wh.data<T>()};
    GateLayout layout = Blocks(units, gates);
    T* h_prev = h_prev_.data<T>();
    FindPrevious(layer, layer.h0.data<T>(), layer.y.data<T>(), units, h_prev);
    Array c_prev_;
    if (layer.kind == RnnKind::kLstm) {
        c_prev_ = Empty(layer.y.shape(), layer.y.dtype(), layer.y.device());
        FindPrevious(layer, layer.c0.data<T>(), layer.cells.data<T>(), units, c_prev_.data<T>());
    }
    T* gh = gh_.data<T>();
    ForSteps(layer, true, [&](int64_t start, int64_t n) {
        const T* x = layer.x_gates.data<T>() + start * width;
        T* gx = gx_gates.data<T>() + start * width;
        if (gy_) {
            const T* gy = gy_.data<T>() + start * units;
            for (int64_t i = 0; i < n * units; ++i) gh[i] += gy[i];
        }
        switch (layer.kind) {
            case RnnKind::kLstm: {
                T* gc = gc_.data<T>();
                LstmBackward<T>(n, units, layout, x, c_prev_.data<T>() + start * units,
                                layer.cells.data<T>() + start * units, gc, gh, gx, gc);
                wh.Multiply(n, gx, T{0}, gh);
                return;
            }
            case RnnKind::kGru: {
                T* gs = gh_gates.data<T>() + start * width;
                GruBackward<T>(n, units, layout, x, layer.h_gates.data<T>() + start * width, h_prev + start * units, gh,
                               gx, gs, gh);
                wh.Multiply(n, gs, T{1}, gh);
                return;
            }
            default:
                SimpleRnnBackward<T>(n * units, layer.kind == RnnKind::kRelu, layer.y.data<T>() + start * units, gh,
                                     gx);
                wh.Multiply(n, gx, T{0}, gh);
        }
    });
}

void Layer(const RnnLayer& layer, const Array& h, const Array& c) {
    VisitComputeDtype(layer.y.dtype(), [&](auto tag) {
        BlockingScope blocking{IsLong(layer)};
        using T = typename decltype(tag)::type;
        int64_t units = layer.y.shape()[1];
        StepMatrix<T> wh{layer, true, units, CountGates(layer.kind) * units, layer.wh.data<T>()};
        Forward<T>(layer, wh, h, c);
    });
}

void LayerGrad(const RnnLayer& layer, const Array& gy, const Array& gh, const Array& gc, const Array& gx_gates,
               const Array& gh_gates, const Array& h_prev) {
    VisitComputeDtype(layer.y.dtype(), [&](auto tag) {
        BlockingScope blocking{IsLong(layer)};
        Backward<typename decltype(tag)::type>(layer, gy, gh, gc, gx_gates, gh_gates, h_prev);
    });
}

template <class T>
class NativeRecurrent final : public PackedRecurrent {
public:
    explicit NativeRecurrent(const Array& wh)
        : width_{wh.shape()[0]}, units_{wh.shape()[1]}, packed_{true, units_, width_, wh.data<T>(), units_} {}

    void Run(const RnnLayer& layer, const Array& h, const Array& c) const override {
        BlockingScope blocking{IsLong(layer)};
        Forward<T>(layer, *this, h, c);
    }

    void Multiply(int64_t m, const T* a, T beta, T* c) const {
        packed_.Multiply({m, a, units_, beta != 0, nullptr, false, c, width_});
    }

private:
    int64_t width_;
    int64_t units_;
    PackedMatrix<T> packed_;
};

template <class T>
class NativeResetsFirst final : public PackedRecurrent {
public:
    explicit NativeResetsFirst(const Array& wh)
        : units_{wh.shape()[1]},
          gates_{true, units_, 2 * units_, wh.data<T>(), units_},
          candidate_{true, units_, units_, wh.data<T>() + 2 * units_ * units_, units_} {}

    void Run(const RnnLayer& layer, const Array& h_, const Array&) const override {
        BlockingScope blocking{IsLong(layer)};
        GateLayout layout = Blocks(units_, 3);
        T* h = h_.data<T>();
        std::copy_n(layer.h0.data<T>(), layer.h0.GetTotalSize(), h);
        Scratch<T> reset{layer.h0.GetTotalSize()};
        ForSteps(layer, false, [&](int64_t start, int64_t n) {
            T* x = layer.x_gates.data<T>() + start * layout.row;
            T* y = layer.y.data<T>() + start * units_;
            gates_.Multiply({n, h, units_, true, nullptr, false, x, layout.row});
            GruReset<T>(n, units_, layout, x, h, reset.data());
            candidate_.Multiply({n, reset.data(), units_, true, nullptr, false, x + 2 * units_, layout.row});
            GruUpdate<T>(n, units_, layout, x, h, y);
            std::copy_n(y, n * units_, h);
        });
    }

private:
    int64_t units_;
    PackedMatrix<T> gates_;
    PackedMatrix<T> candidate_;
};

template <class T>
std::unique_ptr<PackedRecurrent> PackRecurrentOf(const Array& wh, bool resets_first) {
    if (resets_first) return std::make_unique<NativeResetsFirst<T>>(wh);
    return std::make_unique<NativeRecurrent<T>>(wh);
}

std::unique_ptr<PackedRecurrent> PackRecurrent(const Array& wh, bool resets_first) {
    BlockingScope blocking{wh.GetTotalSize() > kRnnLayerBlocking};
    bool is_float = wh.dtype() == Dtype::kFloat32;
    return is_float ? PackRecurrentOf<float>(wh, resets_first) : PackRecurrentOf<double>(wh, resets_first);
}

}  // namespace

const NativeKernels g_rnn_layer_kernels{[](Backend& backend) {
    kRnnLayerKernel.Register(backend, &Layer);
    kRnnLayerGradKernel.Register(backend, &LayerGrad);
    kPackRecurrentKernel.Register(backend, &PackRecurrent);
}};

}  // namespace chainerx::native
