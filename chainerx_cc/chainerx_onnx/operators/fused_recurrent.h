#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "chainerx/ops/packed_linear.h"
#include "chainerx/ops/packed_recurrent.h"
#include "chainerx/ops/rnn.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// A recurrent layer of constant weights and the usual activations, whose steps ChainerX runs in one kernel, after one
// product of all inputs.
class FusedRecurrent {
public:
    // None if the node is no such layer for another reason than its activations.
    static std::optional<FusedRecurrent> Of(const Node& node, RnnKind kind, const std::vector<bool>& reversed);

    Arrays operator()(const Inputs& in) const;

private:
    struct Direction {
        bool is_reversed;
        PackedLinear project;
        std::shared_ptr<const PackedRecurrent> packed;  // the recurrent matrix; or null
        Array recurrent;                                // (gates units, units), if it is not packed
        Array bias;                                     // of the recurrent part, GRU only
    };

    FusedRecurrent(const Node& node, RnnKind kind, const std::vector<bool>& reversed);
    // Adds what one direction gives to outputs: (length, batch, units), and states (batch, units).
    void Run(const Direction& direction, const Array& x, const Arrays& states, std::vector<Arrays>* outputs) const;

    RnnKind kind_;
    bool layout_;
    bool resets_first_;  // a GRU whose reset gate comes before the product
    int64_t inner_;
    int64_t units_;
    Dtype dtype_;
    std::vector<Direction> directions_;
};

}  // namespace chainerx::onnx
