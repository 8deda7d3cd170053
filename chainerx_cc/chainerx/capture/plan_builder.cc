#include "chainerx/capture/plan_builder.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/fusion.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

// A line of the cache, and the widest vector of the kernels.
constexpr int64_t kAlignment = 64;
// Inputs and outputs of up to so many bytes get places in the scratch memory. Copies of such inputs take a small part
// of a step; outputs may be gradients of all parameters, which need not be there twice.
constexpr int64_t kLargestInput = int64_t{64} << 20;
constexpr int64_t kLargestOutput = int64_t{1} << 20;
// Smaller gradients have blocks of their own: somebody who keeps one then keeps no scratch memory.
constexpr size_t kSmallestGradient = size_t{1} << 16;
constexpr size_t kUnused = static_cast<size_t>(-1);

int64_t Align(int64_t bytes) { return (std::max(bytes, int64_t{1}) + kAlignment - 1) / kAlignment * kAlignment; }

bool IsSameView(const Array& a, const Array& b) {
    return a.offset() == b.offset() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

class PlanBuilder {
public:
    PlanBuilder(Recording& recording, std::shared_ptr<Scratch> scratch) : recording_{recording} {
        parts_.device = &recording.device;
        parts_.scratch = std::move(scratch);
    }

    std::shared_ptr<Plan> Build(const std::vector<Array>& inputs, const std::vector<Array>& results,
                                std::vector<PlanGrad> grads, std::vector<Array> renewed);

private:
    struct Place {
        PlanMemory memory;
        size_t index;
    };

    void TakeCalls();
    void EndSegments();
    void PlaceInputs(const std::vector<Array>& inputs);
    void PlaceResults(const std::vector<Array>& results);
    // Finds large gradients that end when the next run starts, and are nothing else.
    void FindGradients();
    void FindBlocks();
    void ShareMemory();
    void ReplaceArrays();
    void Replace(Array& array);
    void AssignDraws();
    void FindScalars();
    void FindHeld();
    void ReservePlaces(const std::vector<Array>& inputs);
    void CountBytes();
    Place PlaceOf(const Storage& storage) const;

    Recording& recording_;
    PlanParts parts_;
    std::unordered_map<const Storage*, Place> places_;                           // all but held ones
    std::vector<bool> are_gradients_;                                            // outputs, see FindGradients
    std::vector<std::pair<size_t, size_t>> output_uses_;                         // the first and the last call
    std::unordered_multimap<const Storage*, std::pair<Array, Array>> replaced_;  // arrays as recorded, as in the plan
};

std::shared_ptr<Plan> PlanBuilder::Build(const std::vector<Array>& inputs, const std::vector<Array>& results,
                                         std::vector<PlanGrad> grads, std::vector<Array> renewed) {
    parts_.grads = std::move(grads);
    parts_.renewed = std::move(renewed);
    // Calls are fused when it is known which memory somebody sees, since fused calls leave out the rest.
    PlaceInputs(inputs);
    PlaceResults(results);
    FindGradients();
    TakeCalls();
    EndSegments();
    FindBlocks();
    ShareMemory();
    ReplaceArrays();
    AssignDraws();
    FindScalars();
    FindHeld();
    ReservePlaces(inputs);
    CountBytes();
    return std::make_shared<Plan>(std::move(parts_));
}

void PlanBuilder::TakeCalls() {
    FuseCalls(recording_, [this](const Storage& storage) {
        auto it = places_.find(&storage);
        if (it == places_.end()) return recording_.IsStandIn(storage) ? FusedMemory::kScratch : FusedMemory::kHeld;
        if (it->second.memory != PlanMemory::kOutput) return FusedMemory::kOther;
        return are_gradients_[it->second.index] ? FusedMemory::kGradient : FusedMemory::kResult;
    });
    parts_.calls = std::move(recording_.calls);
}

void PlanBuilder::EndSegments() {
    std::vector<size_t> call_ends = std::move(recording_.segment_ends);
    call_ends.push_back(parts_.calls.size());
    std::vector<PlanGrad>& grads = parts_.grads;
    // Stable: of gradients of one array in a segment, the last one counts.
    std::stable_sort(grads.begin(), grads.end(),
                     [](const PlanGrad& a, const PlanGrad& b) { return a.segment < b.segment; });
    size_t draw = 0;
    size_t grad = 0;
    for (size_t segment = 0; segment < call_ends.size(); ++segment) {
        while (draw < recording_.draws.size() && recording_.draws[draw].segment == segment) ++draw;
        while (grad < grads.size() && grads[grad].segment == segment) ++grad;
        parts_.segments.push_back({call_ends[segment], draw, grad});
    }
    if (grad < grads.size()) throw IndexError{"a plan has no segment ", grads[grad].segment};
}

void PlanBuilder::PlaceInputs(const std::vector<Array>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Storage* storage = inputs[i].body()->storage.get();
        if (!places_.try_emplace(storage, Place{PlanMemory::kInput, i}).second) {
            throw ChainerxError{"inputs share memory"};
        }
        parts_.inputs.emplace_back(inputs[i]);
    }
    parts_.input_bindings.resize(inputs.size());
}

void PlanBuilder::PlaceResults(const std::vector<Array>& results) {
    for (const Array& a : results) {
        const Storage* storage = recording_.AsRecorded(a.body()->storage.get());
        if (places_.count(storage) == 0 && recording_.IsStandIn(*storage)) {
            places_[storage] = {PlanMemory::kOutput, parts_.output_bytes.size()};
            parts_.output_bytes.push_back(storage->bytes());
        }
        Place place = PlaceOf(*storage);
        ArrayForm form{a};
        if (place.memory == PlanMemory::kInput) form.offset -= parts_.inputs[place.index].offset;
        bool is_held = place.memory == PlanMemory::kHeld;
        parts_.results.push_back({place.memory, place.index, form, is_held ? a.AsDetached() : Array{}});
    }
    parts_.output_bindings.resize(parts_.output_bytes.size());
}

void PlanBuilder::FindGradients() {
    are_gradients_.resize(parts_.output_bytes.size());
    if (parts_.device->GetDefaultStream()->CanRecord()) return;
    std::unordered_set<const ArrayBody*> renewed;
    for (const Array& a : parts_.renewed) renewed.insert(a.body());
    std::vector<bool> ends(parts_.results.size());
    std::vector<bool> stays(parts_.results.size());
    for (const PlanGrad& grad : parts_.grads) {
        if (!grad.result.has_value()) continue;
        (renewed.count(grad.target.body()) != 0 ? ends : stays)[*grad.result] = true;
    }
    for (size_t i = 0; i < are_gradients_.size(); ++i) are_gradients_[i] = parts_.output_bytes[i] >= kSmallestGradient;
    for (size_t i = 0; i < parts_.results.size(); ++i) {
        const PlanResult& result = parts_.results[i];
        if (result.memory == PlanMemory::kOutput && (stays[i] || !ends[i])) are_gradients_[result.index] = false;
    }
}

void PlanBuilder::FindBlocks() {
    parts_.output_blocks.resize(parts_.output_bytes.size());
    output_uses_.assign(parts_.output_bytes.size(), {kUnused, kUnused});
    for (size_t i = 0; i < parts_.calls.size(); ++i) {
        CallVisitor visitor{[this, i](const Array& a) {
            const Storage* storage = a.body()->storage.get();
            Place place = PlaceOf(*storage);
            if (place.memory == PlanMemory::kScratch) {
                parts_.blocks[place.index].last = i;
            } else if (place.memory == PlanMemory::kOutput) {
                auto& [first, last] = output_uses_[place.index];
                if (last == kUnused) {
                    first = i;
                    if (are_gradients_[place.index]) {
                        parts_.output_blocks[place.index] = parts_.blocks.size();
                        parts_.blocks.push_back(
                                {i, parts_.calls.size() - 1, 0, static_cast<int64_t>(storage->bytes())});
                    }
                }
                last = i;
            } else if (place.memory == PlanMemory::kHeld && recording_.IsStandIn(*storage)) {
                places_[storage] = {PlanMemory::kScratch, parts_.blocks.size()};
                parts_.blocks.push_back({i, i, 0, static_cast<int64_t>(storage->bytes())});
            }
        }};
        parts_.calls[i]->Accept(visitor);
    }
}

// The largest blocks first, each at the lowest place that is free while it is needed.
void PlanBuilder::ShareMemory() {
    std::vector<size_t> order(parts_.blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t i, size_t j) { return parts_.blocks[i].bytes > parts_.blocks[j].bytes; });
    std::vector<const PlanBlock*> placed;  // by offset
    int64_t end = 0;
    for (size_t i : order) {
        PlanBlock& block = parts_.blocks[i];
        block.bytes = Align(block.bytes);
        for (const PlanBlock* other : placed) {
            if (other->last < block.first || block.last < other->first) continue;
            if (other->offset >= block.offset + block.bytes) break;
            block.offset = std::max(block.offset, other->offset + other->bytes);
        }
        auto after = std::upper_bound(placed.begin(), placed.end(), block.offset,
                                      [](int64_t offset, const PlanBlock* b) { return offset < b->offset; });
        placed.insert(after, &block);
        end = std::max(end, block.offset + block.bytes);
        parts_.unshared_scratch_bytes += block.bytes;
    }
    parts_.scratch_bytes = end;
}

void PlanBuilder::ReplaceArrays() {
    CallVisitor visitor{[this](Array& a) { Replace(a); }};
    for (const std::unique_ptr<KernelCall>& call : parts_.calls) call->Accept(visitor);
}

void PlanBuilder::Replace(Array& a) {
    const Storage* storage = a.body()->storage.get();
    auto [begin, end] = replaced_.equal_range(storage);
    for (auto it = begin; it != end; ++it) {
        if (IsSameView(it->second.first, a)) {
            a = it->second.second;
            return;
        }
    }
    Array original = a;
    Place place = PlaceOf(*storage);
    switch (place.memory) {
        case PlanMemory::kScratch:
            parts_.scratch_bindings.push_back({a.body(), parts_.blocks[place.index].offset + a.offset()});
            break;
        case PlanMemory::kInput:
            parts_.input_bindings[place.index].push_back({a.body(), a.offset() - parts_.inputs[place.index].offset});
            break;
        case PlanMemory::kOutput:
            parts_.output_bindings[place.index].push_back({a.body(), a.offset()});
            break;
        case PlanMemory::kHeld:
            if (auto it = recording_.data.find(storage); it != recording_.data.end()) {
                a = internal::MakeArray(a.shape(), a.strides(), a.dtype(), a.device(), it->second.copy, a.offset());
            }
            break;
    }
    replaced_.emplace(storage, std::make_pair(std::move(original), a));
}

void PlanBuilder::AssignDraws() {
    for (const Recording::Draw& draw : recording_.draws) {
        PlanDraw assigned{draw.count, {}};
        CallVisitor visitor{[&](RandomStream& stream) {
            if (stream.key == draw.stream.key && stream.position == draw.stream.position) {
                assigned.targets.push_back(&stream);
            }
        }};
        for (const std::unique_ptr<KernelCall>& call : parts_.calls) call->Accept(visitor);
        parts_.draws.push_back(std::move(assigned));
    }
}

void PlanBuilder::FindScalars() {
    CallVisitor visitor{[this](std::vector<double>& scalars) { parts_.scalars.push_back(&scalars); }};
    for (const std::unique_ptr<KernelCall>& call : parts_.calls) call->Accept(visitor);
}

void PlanBuilder::FindHeld() {
    for (const auto& [storage, found] : recording_.found) {
        if (recording_.data.count(storage) != 0) continue;
        Place place = PlaceOf(*storage);
        bool is_changed = storage->version() != found.second;
        if (place.memory == PlanMemory::kInput) {
            if (is_changed) parts_.changed_inputs.push_back(place.index);
        } else {
            parts_.held.push_back(storage);
            if (is_changed) parts_.changed.push_back(found.first);
        }
    }
    std::sort(parts_.held.begin(), parts_.held.end());
}

void PlanBuilder::ReservePlaces(const std::vector<Array>& inputs) {
    parts_.input_places.resize(inputs.size());
    parts_.output_places.resize(parts_.output_bytes.size());
    if (parts_.device->backend().FindKernel(kCopyBlocksKernel) == nullptr) return;
    auto reserve = [this](int64_t bytes) {
        PlanPlace place{parts_.scratch_bytes, bytes, 0};
        parts_.scratch_bytes += Align(bytes);
        return place;
    };
    for (size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<size_t>& changed = parts_.changed_inputs;
        bool is_changed = std::find(changed.begin(), changed.end(), i) != changed.end();
        bool is_whole = std::all_of(parts_.input_bindings[i].begin(), parts_.input_bindings[i].end(),
                                    [](const PlanBinding& b) { return b.offset == 0; });
        int64_t bytes = inputs[i].GetNBytes();
        if (inputs[i].IsContiguous() && is_whole && !is_changed && bytes <= kLargestInput) {
            parts_.input_places[i] = reserve(bytes);
        }
    }
    // Between segments the program sees and changes outputs, so those of several segments have no place.
    auto segment_of = [this](size_t call) {
        auto it = std::upper_bound(parts_.segments.begin(), parts_.segments.end(), call,
                                   [](size_t i, const PlanSegment& s) { return i < s.call_end; });
        return static_cast<size_t>(it - parts_.segments.begin());
    };
    for (size_t i = 0; i < parts_.output_bytes.size(); ++i) {
        auto bytes = static_cast<int64_t>(parts_.output_bytes[i]);
        auto [first, last] = output_uses_[i];
        if (last == kUnused || segment_of(first) != segment_of(last) || bytes > kLargestOutput) continue;
        parts_.output_places[i] = reserve(bytes);
        parts_.output_places[i].segment = segment_of(first);
    }
}

void PlanBuilder::CountBytes() {
    constexpr int64_t kCall = 256;  // with its parameters and the memory of the allocator
    parts_.own_bytes = static_cast<int64_t>(parts_.calls.size()) * kCall +
                       static_cast<int64_t>(replaced_.size() * sizeof(ArrayBody)) +
                       static_cast<int64_t>(parts_.blocks.size() * sizeof(PlanBlock));
    for (const auto& [storage, data] : recording_.data) parts_.own_bytes += static_cast<int64_t>(data.copy->bytes());
}

PlanBuilder::Place PlanBuilder::PlaceOf(const Storage& storage) const {
    auto it = places_.find(&storage);
    return it == places_.end() ? Place{PlanMemory::kHeld, 0} : it->second;
}

}  // namespace

std::shared_ptr<Plan> BuildPlan(Recording& recording, const std::vector<Array>& inputs,
                                const std::vector<Array>& results, std::vector<PlanGrad> grads,
                                std::vector<Array> renewed, std::shared_ptr<Scratch> scratch) {
    return PlanBuilder{recording, std::move(scratch)}.Build(inputs, results, std::move(grads), std::move(renewed));
}

}  // namespace chainerx
