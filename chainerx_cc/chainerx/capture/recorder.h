#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/plan.h"
#include "chainerx/capture/recording.h"
#include "chainerx/capture/scratch.h"
#include "chainerx/core/array.h"
#include "chainerx/core/data_watch.h"

namespace chainerx {

// Records what a thread does with the arrays of a device, to make a plan of it.
class Recorder final : public DataWatcher {
public:
    // `on_graph_break` is called at the first graph break. The plan has its scratch memory in `scratch`.
    explicit Recorder(Device& device, std::function<void()> on_graph_break = nullptr,
                      std::shared_ptr<Scratch> scratch = nullptr)
        : recording_{device},
          on_graph_break_{std::move(on_graph_break)},
          scratch_{scratch ? std::move(scratch) : std::make_shared<Scratch>()} {}
    ~Recorder() override { Stop(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Records on the calling thread until Stop; may be called again to go on.
    void Start();
    void Stop() noexcept;
    bool is_recording() const { return is_recording_; }
    // Calls a function with each array of data of the program.
    void WatchData(std::function<void(const Array&)> on_data) { on_data_ = std::move(on_data); }
    // Ends a segment.
    void Mark() { recording_.segment_ends.push_back(recording_.calls.size()); }

    size_t segment() const { return recording_.segment_ends.size(); }
    // How many calls so far have scalars that runs may replace.
    size_t scalars_count() const { return scalars_count_; }

    // Why there can be no plan, or nothing.
    const std::string& graph_break() const { return graph_break_; }
    // Whether the array lies in memory that was made while recording.
    bool IsNew(const Array& a) const { return recording_.stand_ins.count(a.body()->storage.get()) != 0; }
    // The random numbers drawn, in order.
    std::vector<RandomStream> GetStreams() const;
    // Whether a kernel used the memory of an array that existed before.
    bool IsUsed(const Array& a) const { return recording_.found.count(a.body()->storage.get()) != 0; }

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
    void OnGraphBreak(const std::string& what) override;

private:
    void FreeUnused();

    Recording recording_;
    std::function<void()> on_graph_break_;
    std::function<void(const Array&)> on_data_;
    std::shared_ptr<Scratch> scratch_;
    bool is_recording_{false};
    KernelWatcher* previous_{nullptr};
    std::string graph_break_;
    size_t scalars_count_{0};
    std::vector<StoragePtr> made_;  // new memory that the program still uses
};

}  // namespace chainerx
