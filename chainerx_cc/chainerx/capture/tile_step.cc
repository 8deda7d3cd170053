#include "chainerx/capture/tile_step.h"

#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/parameter_update.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"

namespace chainerx {
namespace {

TileStep StepOf(const ElementwiseCall& call, const KernelSlotBase& slot) {
    TileStep step;
    step.arrays = {call.out};
    for (int k = 0; k < call.n_inputs; ++k) {  // numbers have no array
        if (call.in[k] != nullptr) step.arrays.push_back(call.in[k]);
    }
    step.is_written.resize(step.arrays.size());
    step.is_written[0] = true;
    step.run = [&call, &kernel = static_cast<const ElementwiseKernel&>(slot)](const std::vector<const Array*>& arrays) {
        ElementwiseCall part = call;
        size_t next = 0;
        part.out = arrays[next++];
        for (int k = 0; k < part.n_inputs; ++k) {
            if (part.in[k] != nullptr) part.in[k] = arrays[next++];
        }
        kernel(part.out->device(), part);
    };
    return step;
}

TileStep StepOf(const ParameterUpdate& update) {
    TileStep step;
    for (const Array& a : update.arrays()) step.arrays.push_back(&a);
    step.is_written.assign(step.arrays.size(), true);
    step.is_written[1] = false;  // the gradient
    step.run = [&update](const std::vector<const Array*>& arrays) {
        std::vector<Array> part;
        for (const Array* a : arrays) part.push_back(*a);
        update.RunOn(part);
    };
    return step;
}

}  // namespace

std::optional<TileStep> FindTileStep(const KernelCall& call) {
    if (const auto* elementwise = call.Find<ElementwiseCall>()) return StepOf(*elementwise, call.slot());
    if (const auto* update = dynamic_cast<const ParameterUpdate*>(&call)) return StepOf(*update);
    if (!(call.slot() == kCopyKernel)) return {};
    TileStep step;
    CallVisitor visitor{[&step](const Array& a) { step.arrays.push_back(&a); }};
    const_cast<KernelCall&>(call).Accept(visitor);
    step.is_written = {false, true};
    step.run = [](const std::vector<const Array*>& arrays) { CopyData(*arrays[0], *arrays[1]); };
    return step;
}

}  // namespace chainerx
