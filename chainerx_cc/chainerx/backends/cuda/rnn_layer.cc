// Layers of stacked recurrent networks: a matrix product and a cell for each time step.

#include <algorithm>
#include <utility>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/rnn.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/rnn.h"
#include "chainerx/ops/rnn_steps.h"

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

// The states of one kind during the steps of a layer. Those before a step are those after the one before and, of
// sequences that begin, the first ones, which `last` has. At the end `last` has the last states of all sequences.
class States {
public:
    explicit States(Array last) : last_{std::move(last)} {}

    Array Before(int64_t n) {
        if (n > n_) {
            Keep(0, n_);
            return Rows(last_, 0, n);
        }
        Keep(n, n_ - n);  // of sequences that have ended
        return Rows(after_, 0, n);
    }
    void SetAfter(const Array& after) {
        after_ = after;
        n_ = after.shape()[0];
    }
    void Finish() { Keep(0, n_); }

private:
    void Keep(int64_t start, int64_t n) {
        if (n > 0) CopyData(Rows(after_, start, n), Rows(last_, start, n));
    }

    Array last_;
    Array after_;
    int64_t n_{0};  // sequences in `after`
};

void Layer(const RnnLayer& layer, const Array& h, const Array& c) {
    Device& device = h.device();
    Array wh = Transposed(layer.wh);
    States hs{h};
    States cs{c};
    CopyData(layer.h0, h);
    if (layer.kind == RnnKind::kLstm) CopyData(layer.c0, c);
    ForSteps(layer, false, [&](int64_t start, int64_t n) {
        Array x = Rows(layer.x_gates, start, n);
        Array y = Rows(layer.y, start, n);
        Array state = hs.Before(n);
        if (layer.kind == RnnKind::kGru) {
            Array s = Rows(layer.h_gates, start, n);
            kMatmulBiasKernel(device, state, wh, layer.bh, s);
            Gru(x, s, state, y);
        } else {
            kMatmulKernel(device, state, wh, 1.0, x);
            if (layer.kind == RnnKind::kLstm) {
                Array cell = Rows(layer.cells, start, n);
                kLstmKernel(device, cs.Before(n), x, Gates::kBlocks, cell, y);
                cs.SetAfter(cell);
            } else {
                SimpleRnn(layer.kind == RnnKind::kRelu, x, y);
            }
        }
        hs.SetAfter(y);
    });
    hs.Finish();
    cs.Finish();
}

// The states before each step, from the first ones and those after each step.
void FindPrevious(const RnnLayer& layer, const Array& first, const Array& after, const Array& before) {
    int64_t total = after.shape()[0];
    int64_t batch = layer.lengths.front();
    if (layer.lengths.back() == batch) {  // all are equally long
        int64_t rest = total - batch;
        CopyData(Rows(first, 0, batch), Rows(before, layer.reverse ? rest : 0, batch));
        CopyData(Rows(after, layer.reverse ? batch : 0, rest), Rows(before, layer.reverse ? 0 : batch, rest));
        return;
    }
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
