#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// A call of a kernel that computes each element of its outputs from the elements at the same place of its operands, so
// that it can run on one tile of its arrays after the other.
struct TileStep {
    std::vector<const Array*> arrays;  // the call's own, outputs and operands
    std::vector<bool> is_written;      // of `arrays`
    // Runs the kernel on other arrays in the places of the call's own.
    std::function<void(const std::vector<const Array*>& arrays)> run;
};

// Of an elementwise call, a copy, or an update of one parameter; none if the call is another one.
std::optional<TileStep> FindTileStep(const KernelCall& call);

}  // namespace chainerx
