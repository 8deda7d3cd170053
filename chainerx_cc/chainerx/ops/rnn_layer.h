#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/ops/rnn.h"

namespace chainerx::internal {

// One layer of a recurrent network in one direction, over the joined rows of all time steps.

// What a layer reads; the order of its gradients. There is no c0 but for LSTM, and no bh but for GRU.
struct LayerInputs {
    Array x;   // (total, I)
    Array h0;  // (B, U)
    Array c0;
    Array wx;  // (gates U, I), and so on: all gates stacked
    Array wh;
    Array bx;
    Array bh;

    static constexpr size_t kCount = 7;
    template <class F>
    void ForEach(F&& f) {
        size_t i = 0;
        for (Array* a : {&x, &h0, &c0, &wx, &wh, &bx, &bh}) f(i++, a);
    }
};

struct LayerOutputs {
    Array y;  // (total, U)
    Array h;  // (B, U)
    Array c;
};

// Differentiable any number of times.
LayerOutputs RunLayer(RnnKind kind, bool reverse, const std::vector<int64_t>& lengths, LayerInputs in);

// The gradients of a layer's inputs from those of its outputs, by operations that have gradients themselves. There is
// no gc but for LSTM.
LayerInputs ComposeLayerGrads(RnnKind kind, bool reverse, const std::vector<int64_t>& lengths, const LayerInputs& in,
                              const Array& gy, const Array& gh, const Array& gc);

}  // namespace chainerx::internal
