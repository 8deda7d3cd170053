#include "chainerx/capture/plan_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/fusion.h"
#include "chainerx/core/error.h"

namespace chainerx {
namespace {

constexpr int64_t kAlignment = 64;

bool IsSameView(const Array& a, const Array& b) {
    return a.offset() == b.offset() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

}  // namespace

std::shared_ptr<Plan> PlanBuilder::Build(const std::vector<Array>& inputs, const std::vector<Array>& results,
                                         std::vector<PlanGrad> grads, std::vector<Array> renewed) {
    plan_->device_ = &recorder_.device_;
    plan_->calls_ = std::move(recorder_.calls_);
    plan_->grads_ = std::move(grads);
    plan_->renewed_ = std::move(renewed);
    PlaceInputs(inputs);
    PlaceResults(results);
    FuseCalls();
    EndSegments();
    FindBlocks();
    ShareMemory();
    ReplaceArrays();
    AssignDraws();
    FindScalars();
    FindHeld();
    return plan_;
}

void PlanBuilder::FuseCalls() {
    Fusion fusion{*plan_->device_, plan_->calls_, recorder_.segment_ends_, [this](const Storage& storage) {
                      if (!recorder_.IsStandIn(storage)) return FusedMemory::kOther;
                      auto it = places_.find(&storage);
                      if (it == places_.end()) return FusedMemory::kScratch;
                      return it->second.memory == PlanMemory::kOutput ? FusedMemory::kResult : FusedMemory::kOther;
                  }};
    fusion.Run();
}

void PlanBuilder::EndSegments() {
    std::vector<size_t> call_ends = std::move(recorder_.segment_ends_);
    call_ends.push_back(plan_->calls_.size());
    std::vector<PlanGrad>& grads = plan_->grads_;
    std::stable_sort(grads.begin(), grads.end(),
                     [](const PlanGrad& a, const PlanGrad& b) { return a.segment < b.segment; });
    size_t draw = 0;
    size_t grad = 0;
    for (size_t segment = 0; segment < call_ends.size(); ++segment) {
        while (draw < recorder_.draws_.size() && recorder_.draws_[draw].segment == segment) ++draw;
        while (grad < grads.size() && grads[grad].segment == segment) ++grad;
        plan_->segments_.push_back({call_ends[segment], draw, grad});
    }
    if (grad < grads.size()) throw IndexError{"a plan has no segment ", grads[grad].segment};
}

void PlanBuilder::PlaceInputs(const std::vector<Array>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Storage* storage = inputs[i].body()->storage.get();
        if (!places_.try_emplace(storage, Place{PlanMemory::kInput, i}).second) {
            throw ChainerxError{"inputs share memory"};
        }
        plan_->inputs_.emplace_back(inputs[i]);
    }
    plan_->input_bindings_.resize(inputs.size());
}

void PlanBuilder::PlaceResults(const std::vector<Array>& results) {
    for (const Array& a : results) {
        const Storage* storage = recorder_.AsRecorded(a.body()->storage.get());
        if (places_.count(storage) == 0 && recorder_.IsStandIn(*storage)) {
            places_[storage] = {PlanMemory::kOutput, plan_->output_bytes_.size()};
            plan_->output_bytes_.push_back(storage->bytes());
        }
        Place place = PlaceOf(*storage);
        ArrayForm form{a};
        if (place.memory == PlanMemory::kInput) form.offset -= plan_->inputs_[place.index].offset;
        bool is_held = place.memory == PlanMemory::kHeld;
        plan_->results_.push_back({place.memory, place.index, form, is_held ? a.AsDetached() : Array{}});
    }
    plan_->output_bindings_.resize(plan_->output_bytes_.size());
}

void PlanBuilder::FindBlocks() {
    for (size_t i = 0; i < plan_->calls_.size(); ++i) {
        CallVisitor visitor{[this, i](const Array& a) {
            const Storage* storage = a.body()->storage.get();
            Place place = PlaceOf(*storage);
            if (place.memory == PlanMemory::kScratch) {
                blocks_[place.index].last = i;
            } else if (place.memory == PlanMemory::kHeld && recorder_.IsStandIn(*storage)) {
                places_[storage] = {PlanMemory::kScratch, blocks_.size()};
                blocks_.push_back({static_cast<int64_t>(storage->bytes()), i, i, 0});
            }
        }};
        plan_->calls_[i]->Accept(visitor);
    }
}

// The largest blocks first, each at the lowest place that is free while it is needed.
void PlanBuilder::ShareMemory() {
    std::vector<size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t i, size_t j) { return blocks_[i].bytes > blocks_[j].bytes; });
    std::vector<const Block*> placed;  // by offset
    int64_t end = 0;
    for (size_t i : order) {
        Block& block = blocks_[i];
        block.bytes = (std::max(block.bytes, int64_t{1}) + kAlignment - 1) / kAlignment * kAlignment;
        for (const Block* other : placed) {
            if (other->last < block.first || block.last < other->first) continue;
            if (other->offset >= block.offset + block.bytes) break;
            block.offset = std::max(block.offset, other->offset + other->bytes);
        }
        auto after = std::upper_bound(placed.begin(), placed.end(), block.offset,
                                      [](int64_t offset, const Block* b) { return offset < b->offset; });
        placed.insert(after, &block);
        end = std::max(end, block.offset + block.bytes);
        plan_->unshared_scratch_bytes_ += block.bytes;
    }
    plan_->scratch_bytes_ = end;
    plan_->device_->FreeUnusedBlocks();  // those of the recording
    if (end > 0) plan_->scratch_ = plan_->device_->Allocate(static_cast<size_t>(end));
}

void PlanBuilder::ReplaceArrays() {
    CallVisitor visitor{[this](Array& a) { Replace(a); }};
    for (const std::unique_ptr<KernelCall>& call : plan_->calls_) call->Accept(visitor);
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
            a = internal::MakeArray(a.shape(), a.strides(), a.dtype(), a.device(), plan_->scratch_,
                                    blocks_[place.index].offset + a.offset());
            break;
        case PlanMemory::kInput:
            plan_->input_bindings_[place.index].push_back({a.body(), a.offset() - plan_->inputs_[place.index].offset});
            break;
        case PlanMemory::kOutput:
            plan_->output_bindings_[place.index].push_back({a.body(), a.offset()});
            break;
        case PlanMemory::kHeld:
            if (auto it = recorder_.data_.find(storage); it != recorder_.data_.end()) {
                a = internal::MakeArray(a.shape(), a.strides(), a.dtype(), a.device(), it->second.copy, a.offset());
            }
            break;
    }
    replaced_.emplace(storage, std::make_pair(std::move(original), a));
}

void PlanBuilder::AssignDraws() {
    for (const Recorder::RecordedDraw& draw : recorder_.draws_) {
        Plan::Draw assigned{draw.count, {}};
        CallVisitor visitor{[&](RandomStream& stream) {
            if (stream.key == draw.stream.key && stream.position == draw.stream.position) {
                assigned.targets.push_back(&stream);
            }
        }};
        for (const std::unique_ptr<KernelCall>& call : plan_->calls_) call->Accept(visitor);
        plan_->draws_.push_back(std::move(assigned));
    }
}

void PlanBuilder::FindScalars() {
    CallVisitor visitor{[this](std::vector<double>& scalars) { plan_->scalars_.push_back(&scalars); }};
    for (const std::unique_ptr<KernelCall>& call : plan_->calls_) call->Accept(visitor);
}

void PlanBuilder::FindHeld() {
    for (const auto& [storage, found] : recorder_.found_) {
        if (recorder_.data_.count(storage) != 0) continue;
        Place place = PlaceOf(*storage);
        bool is_changed = storage->version() != found.second;
        if (place.memory == PlanMemory::kInput) {
            if (is_changed) plan_->changed_inputs_.push_back(place.index);
        } else {
            plan_->held_.push_back(storage);
            if (is_changed) plan_->changed_.push_back(found.first);
        }
    }
    std::sort(plan_->held_.begin(), plan_->held_.end());
}

PlanBuilder::Place PlanBuilder::PlaceOf(const Storage& storage) const {
    auto it = places_.find(&storage);
    return it == places_.end() ? Place{PlanMemory::kHeld, 0} : it->second;
}

}  // namespace chainerx
