// Layers of stacked recurrent networks: a matrix product and a cell for each time step.

#include <algorithm>
#include <vector>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/rnn.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/rnn.h"

namespace chainerx::cuda {
namespace {

// Rows [start, start + n) of a matrix.
Array Rows(const Array& a, int64_t start, int64_t n) {
    return internal::MakeView(a, Shape{n, a.shape()[1]}, a.strides(), a.offset() + start * a.strides()[0]);
}

Array Transposed(const Array& a) {
    return internal::MakeView(a, Shape{a.shape()[1], a.shape()[0]}, Strides{a.strides()[1], a.strides()[0]},
                              a.offset());
}

// Calls f(first row, number of sequences) for the steps in the order of the recurrence or in reverse.
template <class F>
void ForSteps(const RnnLayer& layer, bool backward, F&& f) {
    auto steps = static_cast<int64_t>(layer.lengths.size());
    std::vector<int64_t> starts(steps);
    for (int64_t t = 1; t < steps; ++t) starts[t] = starts[t - 1] + layer.lengths[t - 1];
    for (int64_t i = 0; i < steps; ++i) {
        int64_t t = layer.reverse != backward ? steps - 1 - i : i;
        if (layer.lengths[t] != 0) f(starts[t], layer.lengths[t]);
    }
}

void Layer(const RnnLayer& layer, const Array& h, const Array& c) {
    Device& device = h.device();
    Array wh = Transposed(layer.wh);
    CopyData(layer.h0, h);
    if (layer.kind == RnnKind::kLstm) CopyData(layer.c0, c);
    ForSteps(layer, false, [&](int64_t start, int64_t n) {
        Array x = Rows(layer.x_gates, start, n);
        Array y = Rows(layer.y, start, n);
        Array state = Rows(h, 0, n);
        if (layer.kind == RnnKind::kGru) {
            Array s = Rows(layer.h_gates, start, n);
            CopyData(layer.bh, s);
            kMatmulKernel(device, state, wh, 1.0, s);
            Gru(x, s, state, y);
        } else {
            kMatmulKernel(device, state, wh, 1.0, x);
            if (layer.kind == RnnKind::kLstm) {
                Array cell = Rows(layer.cells, start, n);
                Array c_state = Rows(c, 0, n);
                kLstmKernel(device, c_state, x, Gates::kBlocks, cell, y);
                CopyData(cell, c_state);
            } else {
                SimpleRnn(layer.kind == RnnKind::kRelu, x, y);
            }
        }
        CopyData(y, state);
    });
}

// The states before each step, from the first ones and those after each step.
void FindPrevious(const RnnLayer& layer, const Array& first, const Array& after, const Array& before) {
    int64_t previous = 0;
    int64_t known = 0;  // sequences of the previous step
    ForSteps(layer, false, [&](int64_t start, int64_t n) {
        int64_t shared = std::min(n, known);
        CopyData(Rows(after, previous, shared), Rows(before, start, shared));
        CopyData(Rows(first, shared, n - shared), Rows(before, start + shared, n - shared));
        previous = start;
        known = n;
    });
}

void LayerGrad(const RnnLayer& layer, const Array& gy, const Array& gh_, const Array& gc_, const Array& gx_gates,
               const Array& gh_gates, const Array& h_prev) {
    Device& device = gh_.device();
    FindPrevious(layer, layer.h0, layer.y, h_prev);
    Array c_prev;
    if (layer.kind == RnnKind::kLstm) {
        c_prev = Empty(layer.y.shape(), layer.y.dtype(), device);
        FindPrevious(layer, layer.c0, layer.cells, c_prev);
    }
    ForSteps(layer, true, [&](int64_t start, int64_t n) {
        Array x = Rows(layer.x_gates, start, n);
        Array gx = Rows(gx_gates, start, n);
        Array gh = Rows(gh_, 0, n);
        if (gy) AddInto(gh, Rows(gy, start, n));
        switch (layer.kind) {
            case RnnKind::kLstm: {
                Array gc = Rows(gc_, 0, n);
                kLstmGradKernel(device, Rows(c_prev, start, n), x, Gates::kBlocks, Rows(layer.cells, start, n), gc, gh,
                                gc, gx);
                kMatmulKernel(device, gx, layer.wh, 0.0, gh);
                return;
            }
            case RnnKind::kGru: {
                Array gs = Rows(gh_gates, start, n);
                GruGrad(x, Rows(layer.h_gates, start, n), Rows(h_prev, start, n), gh, gx, gs, gh);
                kMatmulKernel(device, gs, layer.wh, 1.0, gh);
                return;
            }
            default:
                SimpleRnnGrad(layer.kind == RnnKind::kRelu, Rows(layer.y, start, n), gh, gx);
                kMatmulKernel(device, gx, layer.wh, 0.0, gh);
        }
    });
}

}  // namespace

const CudaKernels g_rnn_layer_kernels{[](Backend& backend) {
    kRnnLayerKernel.Register(backend, &Layer);
    kRnnLayerGradKernel.Register(backend, &LayerGrad);
}};

}  // namespace chainerx::cuda
