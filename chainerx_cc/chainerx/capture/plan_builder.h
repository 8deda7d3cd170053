#pragma once

#include <memory>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recording.h"

namespace chainerx {

// Makes a plan of a recording, whose calls it takes: decides where the memory of each array comes from, and gives
// arrays that are never needed at the same time the same memory. `inputs`: arrays that a run is given; `results`:
// arrays that it returns; `grads`: gradients that it sets; `renewed`: arrays whose gradients end when it starts;
// `scratch`: the memory of what it computes on the way.
std::shared_ptr<Plan> BuildPlan(Recording& recording, const std::vector<Array>& inputs,
                                const std::vector<Array>& results, std::vector<PlanGrad> grads,
                                std::vector<Array> renewed, std::shared_ptr<Scratch> scratch);

}  // namespace chainerx
