#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "chainerx/core/stream.h"

namespace chainerx::cuda {

// The streams of one GPU. They stay as long as the device: one that nobody holds any more goes to the next who asks.
// Those of other libraries stay as long as they have users.
class StreamSet {
public:
    StreamSet() = default;
    ~StreamSet();
    StreamSet(const StreamSet&) = delete;
    StreamSet& operator=(const StreamSet&) = delete;

    // The device must be current.
    cudaStream_t Take();
    void Return(cudaStream_t stream) noexcept;

    using Owner = std::shared_ptr<void>;
    // Adds a user of another library's stream: an object that stands for it. False if the stream is of this set.
    bool AddForeign(cudaStream_t stream, Owner owner);
    // Adds or removes one, such as a block of memory, if the stream is another library's. Gives back what kept the
    // stream, for the end of which no lock may be held.
    void AddUser(cudaStream_t stream) {
        if (foreign_count_.load(std::memory_order_acquire) != 0) CountUser(stream, 1);
    }
    [[nodiscard]] Owner RemoveUser(cudaStream_t stream) noexcept {
        return foreign_count_.load(std::memory_order_acquire) == 0 ? nullptr : CountUser(stream, -1);
    }

    // False as long as all work is in the default stream.
    bool HasSeveral() const { return has_several_.load(std::memory_order_acquire); }
    // The streams that have work to do, without one of them.
    std::vector<cudaStream_t> GetBusy(cudaStream_t without);

private:
    struct Foreign {
        cudaStream_t stream;
        Owner owner;
        int64_t users;
    };

    Owner CountUser(cudaStream_t stream, int change) noexcept;

    std::atomic<bool> has_several_{false};
    std::atomic<size_t> foreign_count_{0};
    std::mutex mutex_;
    std::vector<Foreign> foreign_;
    std::vector<cudaStream_t> all_;  // the default stream is not among them
    std::vector<cudaStream_t> free_;
};

class CudaStream final : public Stream {
public:
    // The default stream if `stream` is null. Else the set gets it back.
    CudaStream(Device& device, cudaStream_t stream, StreamSet& set)
        : Stream{device}, stream_{stream}, set_{set}, is_taken_{stream != nullptr}, is_foreign_{false} {}
    // A stream that another library gives.
    CudaStream(Device& device, cudaStream_t stream, StreamSet& set, StreamSet::Owner owner);
    ~CudaStream() override;

    void Synchronize() override;
    bool IsDone() override;
    void WaitFor(Stream& other) override;
    bool CanRecord() const override { return true; }
    std::unique_ptr<RecordedWork> Record(const std::function<void()>& submit) override;
    uintptr_t handle() const override { return reinterpret_cast<uintptr_t>(stream_); }
    StreamPtr Wrap(uintptr_t handle, std::shared_ptr<void> owner) override;
    void LetWait(uintptr_t handle) override;

private:
    cudaStream_t stream_;
    StreamSet& set_;
    bool is_taken_;
    bool is_foreign_;
};

}  // namespace chainerx::cuda
