#include "chainerx/capture/plan.h"

#include <algorithm>
#include <chrono>
#include <sstream>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/lost_graph.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/compute_mode.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/stream.h"

namespace chainerx {
namespace {

bool HasForm(const Array& a, const ArrayForm& form) {
    return a.shape() == form.shape && a.dtype() == form.dtype && a.strides() == form.strides;
}

void Bind(ArrayBody& body, const StoragePtr& storage, int64_t offset) {
    body.storage = storage;
    body.offset = offset;
    body.data = static_cast<char*>(storage->data()) + offset;
}

}  // namespace

// Ends a run at the end of a scope, also by an error, but for one that goes on.
struct Plan::RunScope {
    Plan& plan;
    bool goes_on{false};
    ~RunScope() {
        if (!goes_on) plan.EndRun();
    }
};

Plan::Plan(PlanParts parts)
    : parts_{std::move(parts)},
      has_gradients_in_scratch_{std::any_of(parts_.output_blocks.begin(), parts_.output_blocks.end(),
                                            [](const std::optional<size_t>& block) { return block.has_value(); })} {
    StreamPtr stream = parts_.device->GetDefaultStream();
    if (!stream->CanRecord()) return;
    std::vector<size_t> ends;
    for (const PlanSegment& segment : parts_.segments) ends.push_back(segment.call_end);
    recorded_runs_ = std::make_unique<RecordedRuns>(std::move(stream), parts_.calls, ends);
}

bool Plan::Fits(const std::vector<Array>& inputs) const {
    if (inputs.size() > parts_.inputs.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (&inputs[i].device() != parts_.device || !HasForm(inputs[i], parts_.inputs[i])) return false;
        // The plan may write to what it holds or to another input before it reads this one.
        const Storage* storage = inputs[i].body()->storage.get();
        if (std::binary_search(parts_.held.begin(), parts_.held.end(), storage)) return false;
        for (size_t j = 0; j < i; ++j) {
            if (inputs[j].body()->storage.get() == storage) return false;
        }
    }
    return true;
}

std::vector<Array> Plan::Start(const std::vector<Array>& inputs) {
    if (inputs.size() != parts_.inputs.size() || !Fits(inputs)) {
        throw ChainerxError{"a plan of ", parts_.inputs.size(), " inputs cannot run on these ", inputs.size()};
    }
    RunScope scope{*this};
    is_running_ = true;
    // First, so that the run can use the memory of gradients that nobody reads any more.
    for (const Array& a : parts_.renewed) a.ClearGrad();
    BindScratch();
    std::vector<StoragePtr> blocks = MakeOutputs();
    bool is_recorded = StartRecordedRun(inputs, blocks);
    BindInputs(inputs, is_recorded);
    BindOutputs(blocks, is_recorded);
    outputs_.clear();
    for (const PlanResult& r : parts_.results) {
        if (r.memory == PlanMemory::kHeld) {
            outputs_.push_back(r.held.AsDetached());
            continue;
        }
        bool is_input = r.memory == PlanMemory::kInput;
        const StoragePtr& storage = is_input ? inputs[r.index].body()->storage : blocks[r.index];
        int64_t offset = r.form.offset + (is_input ? inputs[r.index].offset() : 0);
        outputs_.push_back(
                internal::MakeArray(r.form.shape, r.form.strides, r.form.dtype, *parts_.device, storage, offset));
    }
    for (size_t i : lost_graphs_) LoseGraph(outputs_[i], leaves_);
    // Before the kernels run: if one raises an error, what it has changed must count as changed, too.
    for (const StoragePtr& storage : parts_.changed) storage->BumpVersion();
    for (size_t i : parts_.changed_inputs) inputs[i].body()->storage->BumpVersion();
    scope.goes_on = true;
    return outputs_;
}

std::vector<StoragePtr> Plan::MakeOutputs() {
    std::vector<StoragePtr> blocks;
    blocks.reserve(parts_.output_bytes.size());
    for (size_t i = 0; i < parts_.output_bytes.size(); ++i) {
        size_t bytes = parts_.output_bytes[i];
        if (recorded_runs_ != nullptr && parts_.output_places[i].bytes == 0) {
            blocks.push_back(parts_.scratch->GetResult(*parts_.device, i, bytes));
            continue;
        }
        StoragePtr block;
        if (std::optional<size_t> number = parts_.output_blocks[i]) {
            block = parts_.scratch->MakeGradient(*parts_.device, parts_.blocks[*number].offset, bytes);
        }
        blocks.push_back(block ? std::move(block) : parts_.device->Allocate(bytes));
    }
    return blocks;
}

bool Plan::StartRecordedRun(const std::vector<Array>& inputs, const std::vector<StoragePtr>& blocks) {
    if (recorded_runs_ == nullptr || !seconds_.empty()) return false;
    RecordedRuns::Key key{static_cast<uintptr_t>(GetComputeMode()),
                          reinterpret_cast<uintptr_t>(scratch_ ? scratch_->data() : nullptr)};
    for (size_t i = 0; i < inputs.size(); ++i) {
        bool has_address = parts_.input_places[i].bytes == 0 && inputs[i].GetTotalSize() != 0;
        if (has_address) key.push_back(reinterpret_cast<uintptr_t>(inputs[i].raw_data()));
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
        bool has_address = parts_.output_places[i].bytes == 0 && blocks[i]->bytes() != 0;
        if (has_address) key.push_back(reinterpret_cast<uintptr_t>(blocks[i]->data()));
    }
    return recorded_runs_->Start(std::move(key));
}

void Plan::BindInputs(const std::vector<Array>& inputs, bool is_recorded) {
    std::vector<BlockCopy> copies;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const ArrayBody& input = *inputs[i].body();
        PlanPlace place = is_recorded ? parts_.input_places[i] : PlanPlace{};
        bool has_place = place.bytes != 0;
        for (const PlanBinding& b : parts_.input_bindings[i]) {
            Bind(*b.body, has_place ? scratch_ : input.storage, (has_place ? place.offset : input.offset) + b.offset);
        }
        if (!has_place) continue;
        char* to = static_cast<char*>(scratch_->data()) + place.offset;
        copies.push_back({input.data, to, static_cast<size_t>(place.bytes)});
    }
    if (!copies.empty()) kCopyBlocksKernel(*parts_.device, *parts_.device, copies);
}

void Plan::BindOutputs(const std::vector<StoragePtr>& blocks, bool is_recorded) {
    output_copies_.assign(parts_.segments.size(), {});
    for (size_t i = 0; i < blocks.size(); ++i) {
        PlanPlace place = is_recorded ? parts_.output_places[i] : PlanPlace{};
        bool has_place = place.bytes != 0;
        for (const PlanBinding& b : parts_.output_bindings[i]) {
            Bind(*b.body, has_place ? scratch_ : blocks[i], place.offset + b.offset);
        }
        if (!has_place) continue;
        const char* from = static_cast<const char*>(scratch_->data()) + place.offset;
        output_copies_[place.segment].push_back({from, blocks[i]->data(), static_cast<size_t>(place.bytes)});
    }
}

void Plan::Run(size_t segment) {
    if (segment >= parts_.segments.size()) throw IndexError{"a plan has no segment ", segment};
    if (!is_running_) throw ChainerxError{"a plan has to start before it runs"};
    RunScope scope{*this};
    const PlanSegment begin = segment == 0 ? PlanSegment{0, 0, 0} : parts_.segments[segment - 1];
    const PlanSegment& end = parts_.segments[segment];
    for (size_t i = begin.draw_end; i < end.draw_end; ++i) {
        const PlanDraw& draw = parts_.draws[i];
        RandomStream stream =
                streams_.empty() ? parts_.device->context().random_generator().Take(draw.count) : streams_.at(i);
        for (RandomStream* target : draw.targets) *target = stream;
    }
    RunCalls(begin.call_end, end.call_end);
    const std::vector<BlockCopy>& copies = output_copies_[segment];
    if (!copies.empty()) kCopyBlocksKernel(*parts_.device, *parts_.device, copies);
    for (size_t i = begin.grad_end; i < end.grad_end; ++i) {
        PlanGrad& grad = parts_.grads[i];
        if (grad.result.has_value()) {
            grad.target.SetGrad(outputs_[*grad.result]);
        } else {
            grad.target.ClearGrad();
        }
    }
    scope.goes_on = segment + 1 != parts_.segments.size();
}

void Plan::BindScratch() {
    if (parts_.scratch_bytes == 0) return;
    const StoragePtr& scratch =
            parts_.scratch->Get(*parts_.device, static_cast<size_t>(parts_.scratch_bytes), has_gradients_in_scratch_);
    // The same block as in the last run, as a rule.
    if (scratch_.get() == scratch.get()) return;
    for (const PlanBinding& b : parts_.scratch_bindings) Bind(*b.body, scratch, b.offset);
    scratch_ = scratch;
}

// The program owns inputs and results, and shall be able to free them: the next run of another plan takes their memory.
void Plan::EndRun() noexcept {
    is_running_ = false;
    outputs_.clear();
    streams_.clear();
    for (const auto* all : {&parts_.input_bindings, &parts_.output_bindings}) {
        for (const std::vector<PlanBinding>& bindings : *all) {
            for (const PlanBinding& b : bindings) b.body->storage = nullptr;
        }
    }
}

void Plan::LoseGraphs(std::vector<size_t> results, std::vector<Array> leaves) {
    for (size_t i : results) {
        if (i >= parts_.results.size()) throw IndexError{"no result ", i};
    }
    lost_graphs_ = std::move(results);
    leaves_ = std::move(leaves);
}

void Plan::SetScalars(size_t index, const std::vector<double>& scalars) {
    if (index >= parts_.scalars.size() || parts_.scalars[index]->size() != scalars.size()) {
        throw DimensionError{"a plan has no call of the number ", index, " with ", scalars.size(), " scalars"};
    }
    *parts_.scalars[index] = scalars;
}

void Plan::RunCalls(size_t begin, size_t end) {
    if (CHAINERX_LIKELY(seconds_.empty())) {
        if (recorded_runs_ != nullptr) return recorded_runs_->Run(begin, end);
        for (size_t i = begin; i < end; ++i) parts_.calls[i]->Run();
        return;
    }
    auto last = std::chrono::steady_clock::now();
    for (size_t i = begin; i < end; ++i) {
        parts_.calls[i]->Run();
        auto now = std::chrono::steady_clock::now();
        seconds_[i] += std::chrono::duration<double>(now - last).count();
        last = now;
    }
}

void Plan::SetMeasured(bool is_measured) { seconds_.assign(is_measured ? parts_.calls.size() : 0, 0); }

std::string Plan::Describe() const {
    std::ostringstream text;
    for (size_t i = 0; i < parts_.calls.size(); ++i) {
        text << (seconds_.empty() ? 0 : seconds_[i]) << ' ' << parts_.calls[i]->GetName();
        CallVisitor visitor{[&text](const Array& a) { text << ' ' << a.dtype() << a.shape(); }};
        parts_.calls[i]->Accept(visitor);
        text << '\n';
    }
    return text.str();
}

}  // namespace chainerx
