#pragma once

#include <vector>

#include "chainerx/ops/rnn.h"
#include "chainerx_onnx/operators/common.h"

namespace chainerx::onnx {

// What a direction begins with: `count` states (batch, units) of the inputs from 5 on, whose shape is `shape`
// (directions, batch, units), or zeros. `layout`: the node's attribute, which puts the batch first.
Arrays InitialStates(const Inputs& in, int count, bool layout, int64_t direction, const Shape& shape, Dtype dtype);

// What a layer gives. `parts`: of the directions, the outputs (length, batch, units), and each of the final states.
Arrays StackDirections(const std::vector<Arrays>& parts, bool layout);

// A recurrent layer of constant weights and the usual activations, whose steps ChainerX runs in one kernel, after one
// product of all inputs. No kernel if the node is no such layer for another reason than its activations.
Kernel FuseRecurrent(const Node& node, RnnKind kind, const std::vector<bool>& reversed);

}  // namespace chainerx::onnx
