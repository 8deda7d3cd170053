#include "chainerx_onnx/plan.h"

#include <exception>

#include "chainerx/core/small_vector.h"
#include "chainerx_onnx/error.h"

namespace chainerx::onnx {
namespace {

// An error that names a node already, such as one inside of a loop's body, passes as it is.
[[noreturn]] void ThrowNamed(const std::string& label, const char* what) {
    std::string text = what;
    if (text.rfind("node ", 0) == 0) throw ModelError{text};
    throw ModelError{label, ": ", text};
}

}  // namespace

void Plan::Run(const Value* inputs, Value* outputs) const {
    constexpr int kInlineSlots = 48;
    SmallVector<Value, kInlineSlots> slots;
    slots.resize(n_slots_);
    for (int i = 0; i < n_inputs_; ++i) slots[i] = inputs[i];
    ValueTable values{constants_.data(), slots.data()};
    const Step* step = steps_.data();
    const Step* end = step + steps_.size();
    try {
        for (; step != end; ++step) {
            const int32_t* in = numbers_.data() + step->begin;
            const int32_t* out = in + step->n_inputs;
            Inputs inputs_of_step{values, in, step->n_inputs};
            RunKernel(step->kernel, step->operands, step->n_required, inputs_of_step, values.slots, out,
                      step->n_outputs);
            const int32_t* last = out + step->n_outputs;
            for (int i = 0; i < step->n_last; ++i) values.slots[last[i]] = Array{};
        }
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        ThrowNamed(labels_[step->label], error.what());
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        int32_t number = outputs_[i];
        outputs[i] = number < 0 ? constants_[~number] : slots[number];
    }
}

Values Plan::Run(const Values& inputs) const {
    if (static_cast<int>(inputs.size()) != n_inputs_) {
        throw ModelError{"the graph takes ", n_inputs_, " inputs and gets ", inputs.size()};
    }
    Values outputs(outputs_.size());
    Run(inputs.data(), outputs.data());
    return outputs;
}

std::vector<std::string> Plan::StepLabels() const {
    std::vector<std::string> out;
    for (const Step& step : steps_) out.push_back(labels_[step.label]);
    return out;
}

}  // namespace chainerx::onnx
