#pragma once

#include <cstdint>
#include <vector>

#include "chainerx/ops/rnn.h"

namespace chainerx {

// Calls f(first row, number of sequences) for the steps of a layer that have sequences, in the order of the recurrence
// or in reverse.
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

}  // namespace chainerx
