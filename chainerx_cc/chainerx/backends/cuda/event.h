#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "chainerx/backends/cuda/error.h"

namespace chainerx::cuda {

// A point in the work of a stream.
class Event {
public:
    // After the present work of the stream, whose device must be current.
    explicit Event(cudaStream_t stream) {
        Check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        cudaError_t error = cudaEventRecord(event_, stream);
        if (error == cudaSuccess) return;
        cudaEventDestroy(event_);
        ThrowCudaError(error, "cudaEventRecord");
    }
    Event(Event&& o) noexcept : event_{std::exchange(o.event_, nullptr)} {}
    Event& operator=(Event&& o) noexcept {
        std::swap(event_, o.event_);
        return *this;
    }
    ~Event() {
        if (event_ != nullptr) cudaEventDestroy(event_);
    }

    // After an error, too: the work will not go on.
    bool HasPassed() const { return cudaEventQuery(event_) != cudaErrorNotReady; }
    void Wait() const { Check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
    cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_{};
};

}  // namespace chainerx::cuda
