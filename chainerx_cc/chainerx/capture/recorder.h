#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/core/array.h"
#include "chainerx/core/data_watch.h"

namespace chainerx {

// Records what a thread does with the arrays of a device, to make a plan of it.
class Recorder final : public DataWatcher {
public:
    // `on_obstacle` is called where the first obstacle is.
    explicit Recorder(Device& device, std::function<void()> on_obstacle = nullptr)
        : device_{device}, on_obstacle_{std::move(on_obstacle)} {}
    ~Recorder() override { Stop(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Records on the calling thread until Stop; may be called again to go on.
    void Start();
    void Stop() noexcept;
    bool is_recording() const { return is_recording_; }
    // Ends a segment.
    void Mark() { segment_ends_.push_back(calls_.size()); }

    size_t segment() const { return segment_ends_.size(); }
    // How many calls so far have scalars that runs may replace.
    size_t scalars_count() const { return scalars_count_; }

    // Why there can be no plan, or nothing.
    const std::string& obstacle() const { return obstacle_; }
    // Whether the array lies in memory that was made while recording.
    bool IsNew(const Array& a) const { return stand_ins_.count(a.body()->storage.get()) != 0; }
    // The random numbers drawn, in order.
    std::vector<RandomStream> GetStreams() const;
    // Whether a kernel used the memory of an array that existed before.
    bool IsUsed(const Array& a) const { return found_.count(a.body()->storage.get()) != 0; }

    // Takes the calls. `inputs`: arrays that a run is given; `held`: others that existed before and that kernels may
    // use; `results`: arrays that a run returns; `grads`: gradients that it sets; `renewed`: arrays whose gradients it
    // sets and does not read before, so that their memory is free at its start. Raises ChainerxError if there can be no
    // plan.
    std::shared_ptr<Plan> MakePlan(const std::vector<Array>& inputs, const std::vector<Array>& held,
                                   const std::vector<Array>& results, std::vector<PlanGrad> grads,
                                   std::vector<Array> renewed = {});

    void OnCall(std::unique_ptr<KernelCall> call) override;
    void OnAllocate(const StoragePtr& storage) override;
    void OnRandom(const RandomStream& stream, int64_t count) override;
    void OnData(const Array& data) override;
    void OnObstacle(const std::string& what) override;

private:
    friend class PlanBuilder;

    struct RecordedDraw {
        RandomStream stream;
        int64_t count;
        size_t segment;
    };

    // Data of the program, which may change them afterwards.
    struct Data {
        StoragePtr storage;
        StoragePtr copy;
        uint32_t version;
    };

    void CheckData(const std::vector<Array>& results) const;
    // The memory of arrays of the program as the calls have it: new memory by its stand-in.
    const Storage* AsRecorded(const Storage* storage) const;
    bool IsStandIn(const Storage& storage) const { return storage.owner() == this; }
    void FreeUnused();

    Device& device_;
    std::function<void()> on_obstacle_;
    bool is_recording_{false};
    KernelWatcher* previous_{nullptr};
    std::string obstacle_;
    std::vector<std::unique_ptr<KernelCall>> calls_;
    std::vector<size_t> segment_ends_;
    size_t scalars_count_{0};
    std::vector<RecordedDraw> draws_;
    // New memory that the program still uses. In the recorded calls, stand-ins of the same size take its place, so that
    // the program gets memory again that it has given up. They are different for each piece, unlike addresses.
    std::vector<StoragePtr> made_;
    std::unordered_map<const Storage*, StoragePtr> stand_ins_;
    std::unordered_map<const Storage*, Data> data_;
    // The versions of other memory when a kernel first used it.
    std::unordered_map<const Storage*, std::pair<StoragePtr, uint32_t>> found_;
};

}  // namespace chainerx
