#include "chainerx/capture/recorder.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "chainerx/capture/call_visitor.h"
#include "chainerx/capture/plan_builder.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"

namespace chainerx {
void Recorder::Start() {
    if (is_recording_) return;
    device_.backend().Watch();
    previous_ = ExchangeKernelWatcher(this);
    is_recording_ = true;
}

void Recorder::Stop() noexcept {
    if (!is_recording_) return;
    is_recording_ = false;
    ExchangeKernelWatcher(previous_);
    device_.backend().Unwatch();
}

void Recorder::OnCall(std::unique_ptr<KernelCall> call) {
    FreeUnused();
    CallVisitor visitor{[this](const Array& a) {
        StoragePtr& storage = a.body()->storage;
        if (&a.device() != &device_) OnObstacle("arrays on " + a.device().name() + " and on " + device_.name());
        if (auto it = stand_ins_.find(storage.get()); it != stand_ins_.end()) {
            storage = it->second;
            a.body()->data = nullptr;
        } else {
            found_.try_emplace(storage.get(), storage, storage->version());
        }
    }};
    call->Accept(visitor);
    CallVisitor counter{[this](const std::vector<double>&) { ++scalars_count_; }};
    call->Accept(counter);
    calls_.push_back(std::move(call));
}

void Recorder::OnAllocate(const StoragePtr& storage) {
    if (&storage->device() != &device_) OnObstacle("an array on " + storage->device().name());
    made_.push_back(storage);
    auto free = [](Storage* stand_in) noexcept { delete stand_in; };
    stand_ins_.emplace(storage.get(), new Storage{nullptr, storage->bytes(), device_, free, this});
}

void Recorder::FreeUnused() {
    auto is_unused = [this](const StoragePtr& storage) {
        if (storage->use_count() > 1) return false;
        stand_ins_.erase(storage.get());
        return true;
    };
    made_.erase(std::remove_if(made_.begin(), made_.end(), is_unused), made_.end());
}

const Storage* Recorder::AsRecorded(const Storage* storage) const {
    auto it = stand_ins_.find(storage);
    return it == stand_ins_.end() ? storage : it->second.get();
}

void Recorder::OnRandom(const RandomStream& stream, int64_t count) {
    draws_.push_back({stream, count, segment_ends_.size()});
}

void Recorder::OnData(const Array& data) {
    const StoragePtr& storage = data.body()->storage;
    if (&data.device() != &device_) OnObstacle("an array on " + data.device().name());
    if (!data.IsContiguous() || !device_.HasHostMemory())
        OnObstacle("data of the program with gaps or not in host memory");
    if (!obstacle_.empty()) return;
    internal::UnwatchedScope unwatched;
    StoragePtr copy = device_.Allocate(storage->bytes());
    std::memcpy(copy->data(), storage->data(), storage->bytes());
    data_.emplace(storage.get(), Data{storage, std::move(copy), storage->version()});
}

void Recorder::CheckData(const std::vector<Array>& results) const {
    for (const auto& [storage, data] : data_) {
        if (storage->version() != data.version ||
            std::memcmp(storage->data(), data.copy->data(), storage->bytes()) != 0) {
            throw ChainerxError{"an array made of data of the program changes"};
        }
    }
    for (const Array& a : results) {
        if (data_.count(a.body()->storage.get()) != 0) {
            throw ChainerxError{"an array made of data of the program is a result"};
        }
    }
}

void Recorder::OnObstacle(const std::string& what) {
    if (!obstacle_.empty()) return;
    obstacle_ = what;
    if (on_obstacle_) on_obstacle_();
}

std::vector<RandomStream> Recorder::GetStreams() const {
    std::vector<RandomStream> streams;
    for (const RecordedDraw& draw : draws_) streams.push_back(draw.stream);
    return streams;
}

std::shared_ptr<Plan> Recorder::MakePlan(const std::vector<Array>& inputs, const std::vector<Array>& held,
                                         const std::vector<Array>& results, std::vector<PlanGrad> grads,
                                         std::vector<Array> renewed) {
    Stop();
    if (!obstacle_.empty()) throw ChainerxError{obstacle_};
    CheckData(results);
    std::unordered_set<const Storage*> known;
    for (const auto& [storage, data] : data_) known.insert(storage);
    for (const std::vector<Array>* arrays : {&inputs, &held}) {
        for (const Array& a : *arrays) known.insert(a.body()->storage.get());
    }
    for (const auto& [storage, found] : found_) {
        if (known.count(storage) == 0) throw ChainerxError{"an array whose origin is not known is used"};
    }
    for (const Array& a : results) {
        const Storage* storage = a.body()->storage.get();
        if (stand_ins_.count(storage) == 0 && known.count(storage) == 0) {
            throw ChainerxError{"an array whose origin is not known is a result"};
        }
    }
    for (const Array& a : held) {
        for (const Array& input : inputs) {
            if (a.body()->storage.get() == input.body()->storage.get()) {
                throw ChainerxError{"an argument shares memory with an array that the function finds elsewhere"};
            }
        }
    }
    return PlanBuilder{*this}.Build(inputs, results, std::move(grads), std::move(renewed));
}

}  // namespace chainerx
