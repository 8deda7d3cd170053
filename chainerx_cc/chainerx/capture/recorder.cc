#include "chainerx/capture/recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/plan_builder.h"
#include "chainerx/capture/program.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"

namespace chainerx {

void Recorder::Start() {
    if (is_recording_) return;
    recording_.device.backend().Watch();
    previous_ = ExchangeKernelWatcher(this);
    is_recording_ = true;
}

void Recorder::Stop() noexcept {
    if (!is_recording_) return;
    is_recording_ = false;
    ExchangeKernelWatcher(previous_);
    recording_.device.backend().Unwatch();
}

void Recorder::OnCall(std::unique_ptr<KernelCall> call) {
    FreeUnused();
    CallVisitor visitor{[this](const Array& a) {
        StoragePtr& storage = a.body()->storage;
        if (&a.device() != &recording_.device)
            OnGraphBreak("arrays on " + a.device().name() + " and on " + recording_.device.name());
        // The call lives on in the plan, and would keep the memory that the program gives up.
        if (auto it = recording_.stand_ins.find(storage.get()); it != recording_.stand_ins.end()) {
            storage = it->second;
            a.body()->data = nullptr;
        } else {
            recording_.found.try_emplace(storage.get(), storage, storage->version());
        }
    }};
    call->Accept(visitor);
    CallVisitor counter{[this](const std::vector<double>&) { ++scalars_count_; }};
    call->Accept(counter);
    recording_.calls.push_back(std::move(call));
}

void Recorder::OnAllocate(const StoragePtr& storage) {
    if (&storage->device() != &recording_.device) OnGraphBreak("an array on " + storage->device().name());
    // Kept until FreeUnused, so that no other memory gets the address by which the stand-in is found.
    made_.push_back(storage);
    recording_.stand_ins.emplace(storage.get(), recording_.MakeStandIn(storage->bytes()));
}

void Recorder::FreeUnused() {
    auto is_unused = [this](const StoragePtr& storage) {
        if (storage->use_count() > 1) return false;
        recording_.stand_ins.erase(storage.get());
        return true;
    };
    made_.erase(std::remove_if(made_.begin(), made_.end(), is_unused), made_.end());
}

void Recorder::OnRandom(const RandomStream& stream, int64_t count) {
    recording_.draws.push_back({stream, count, recording_.segment_ends.size()});
}

void Recorder::OnData(const Array& data) {
    const StoragePtr& storage = data.body()->storage;
    if (&data.device() != &recording_.device) OnGraphBreak("an array on " + data.device().name());
    if (!data.IsContiguous() || !recording_.device.HasHostMemory())
        OnGraphBreak("data of the program with gaps or not in host memory");
    if (!graph_break_.empty()) return;
    // The copy is that of the recorder: its memory is no part of the step.
    internal::UnwatchedScope unwatched;
    StoragePtr copy = recording_.device.Allocate(storage->bytes());
    std::memcpy(copy->data(), storage->data(), storage->bytes());
    recording_.data.emplace(storage.get(), Recording::Data{storage, std::move(copy), storage->version()});
    if (on_data_) on_data_(data);
}

void Recorder::OnGraphBreak(const std::string& what) {
    if (!graph_break_.empty()) return;
    graph_break_ = what;
    if (on_graph_break_) on_graph_break_();
}

std::vector<RandomStream> Recorder::GetStreams() const {
    std::vector<RandomStream> streams;
    for (const Recording::Draw& draw : recording_.draws) streams.push_back(draw.stream);
    return streams;
}

std::shared_ptr<Plan> Recorder::MakePlan(const std::vector<Array>& inputs, const std::vector<Array>& held,
                                         const std::vector<Array>& results, std::vector<PlanGrad> grads,
                                         std::vector<Array> renewed) {
    Stop();
    if (!graph_break_.empty()) throw ChainerxError{graph_break_};
    recording_.CheckData(results);
    recording_.CheckOrigins(inputs, held, results);
    // Before passes rewrite the calls.
    std::shared_ptr<const Program> program = DescribeRecording(recording_, inputs, results);
    std::shared_ptr<Plan> plan = BuildPlan(recording_, inputs, results, std::move(grads), std::move(renewed), scratch_);
    plan->SetProgram(std::move(program));
    return plan;
}

}  // namespace chainerx
