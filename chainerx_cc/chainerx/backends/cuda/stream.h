#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "chainerx/core/stream.h"

namespace chainerx::cuda {

// The streams of one GPU. They stay as long as the device: one that nobody holds any more goes to the next who asks.
class StreamSet {
public:
    StreamSet() = default;
    ~StreamSet();
    StreamSet(const StreamSet&) = delete;
    StreamSet& operator=(const StreamSet&) = delete;

    // The device must be current.
    cudaStream_t Take();
    void Return(cudaStream_t stream) noexcept;

    // False as long as all work is in the default stream.
    bool HasSeveral() const { return has_several_.load(std::memory_order_acquire); }
    // The streams that have work to do, without one of them.
    std::vector<cudaStream_t> GetBusy(cudaStream_t without);

private:
    std::atomic<bool> has_several_{false};
    std::mutex mutex_;
    std::vector<cudaStream_t> all_;  // the default stream is not among them
    std::vector<cudaStream_t> free_;
};

class CudaStream final : public Stream {
public:
    // The default stream if `stream` is null. Else the set gets it back.
    CudaStream(Device& device, cudaStream_t stream, StreamSet& set) : Stream{device}, stream_{stream}, set_{set} {}
    ~CudaStream() override;

    void Synchronize() override;
    bool IsDone() override;
    void WaitFor(Stream& other) override;
    uintptr_t handle() const override { return reinterpret_cast<uintptr_t>(stream_); }

private:
    cudaStream_t stream_;
    StreamSet& set_;
};

}  // namespace chainerx::cuda
