#include "chainerx_onnx/kernel.h"

#include <numeric>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/places_of_strings.h"

namespace chainerx::onnx {
namespace {

bool HasStrings(const Inputs& in) {
    for (int i = 0; i < in.size(); ++i) {
        if (in.value(i).As<Strings>() != nullptr) return true;
    }
    return false;
}

}  // namespace

void Inputs::ThrowNoArray(int i) const {
    if (!value(i)) throw ModelError{"its input ", i, " is missing"};
    throw ModelError{"its input ", i, " is ", value(i).KindName(), ", and the operator takes an array"};
}

Values CallKernel(const Kernel& kernel, const Values& inputs, int n_outputs) {
    Values slots(n_outputs);
    std::vector<int32_t> in(inputs.size());
    std::vector<int32_t> out(n_outputs);
    for (size_t i = 0; i < in.size(); ++i) in[i] = ~static_cast<int32_t>(i);
    std::iota(out.begin(), out.end(), 0);
    kernel(Inputs{ValueTable{inputs.data(), slots.data()}, in.data(), static_cast<int>(in.size())}, slots.data(),
           out.data(), n_outputs);
    return slots;
}

void RunWithoutArray(const Kernel& kernel, Operands operands, int i, const Inputs& in, Value* slots,
                     const int32_t* outputs, int n_outputs) {
    if (operands == Operands::kArrays || !HasStrings(in)) in.ThrowNoArray(i);
    Values ys = RunOnPlaces(kernel, in.ValuesFrom(0), n_outputs, operands == Operands::kMoved);
    for (int k = 0; k < n_outputs; ++k) slots[outputs[k]] = std::move(ys[k]);
}

}  // namespace chainerx::onnx
