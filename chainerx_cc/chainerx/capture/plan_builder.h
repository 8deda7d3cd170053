#pragma once

#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recorder.h"

namespace chainerx {

// Makes a plan of what a recorder has: decides where the memory of each array comes from, and gives arrays that are
// never needed at the same time the same memory.
class PlanBuilder {
public:
    explicit PlanBuilder(Recorder& recorder) : recorder_{recorder}, plan_{std::make_shared<Plan>()} {}

    std::shared_ptr<Plan> Build(const std::vector<Array>& inputs, const std::vector<Array>& results,
                                std::vector<PlanGrad> grads, std::vector<Array> renewed);

private:
    // A scratch block, needed from a call to another one.
    struct Block {
        int64_t bytes;
        size_t first;
        size_t last;
        int64_t offset;
    };
    struct Place {
        PlanMemory memory;
        size_t index;
    };

    void FuseCalls();
    void EndSegments();
    void PlaceInputs(const std::vector<Array>& inputs);
    void PlaceResults(const std::vector<Array>& results);
    void FindBlocks();
    void ShareMemory();
    void ReplaceArrays();
    void Replace(Array& array);
    void AssignDraws();
    void FindScalars();
    void FindHeld();
    Place PlaceOf(const Storage& storage) const;

    Recorder& recorder_;
    std::shared_ptr<Plan> plan_;
    std::unordered_map<const Storage*, Place> places_;  // all but held ones
    std::vector<Block> blocks_;
    std::unordered_multimap<const Storage*, std::pair<Array, Array>> replaced_;  // arrays as recorded, as in the plan
};

}  // namespace chainerx
