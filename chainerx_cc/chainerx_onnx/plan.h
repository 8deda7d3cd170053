#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx_onnx/kernel.h"

namespace chainerx::onnx {

// A graph that is ready to run: a list of steps between values, each of which is given up after its last use.
class Plan {
public:
    // `inputs`: as many as input_count(); missing ones are nothing. Graphs of gradients are the caller's business.
    void Run(const Value* inputs, Value* outputs) const;
    Values Run(const Values& inputs) const;

    int input_count() const { return n_inputs_; }
    int output_count() const { return static_cast<int>(outputs_.size()); }
    int step_count() const { return static_cast<int>(steps_.size()); }
    // The labels of the nodes that it runs, in their order.
    std::vector<std::string> StepLabels() const;

private:
    friend class PlanEmitter;

    struct Step {
        Kernel kernel;
        Operands operands;
        // Places in numbers_: the inputs, then the outputs, then the slots that no later step reads.
        int32_t begin;
        int32_t n_inputs;
        int32_t n_required;  // inputs that must be there; a function's call may leave out others
        int32_t n_outputs;
        int32_t n_last;
        int32_t label;
    };

    int n_inputs_{0};
    int n_slots_{0};  // the first are the inputs
    std::vector<Value> constants_;
    std::vector<Step> steps_;
    std::vector<int32_t> numbers_;
    std::vector<int32_t> outputs_;
    std::vector<std::string> labels_;
};

}  // namespace chainerx::onnx
