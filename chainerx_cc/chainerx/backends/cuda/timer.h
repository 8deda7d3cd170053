#pragma once

#include <cuda_runtime.h>

#include "chainerx/backends/cuda/error.h"

namespace chainerx::cuda {

// Measures the work of a stream, whose device must be current.
class Timer {
public:
    explicit Timer(cudaStream_t stream) : stream_{stream} {
        Check(cudaEventCreateWithFlags(&start_, cudaEventDefault), "cudaEventCreateWithFlags");
        cudaError_t error = cudaEventCreateWithFlags(&end_, cudaEventDefault);
        if (error == cudaSuccess) return;
        cudaEventDestroy(start_);
        ThrowCudaError(error, "cudaEventCreateWithFlags");
    }
    ~Timer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(end_);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // The milliseconds that the work takes which f() submits.
    template <class F>
    float Measure(F&& f) {
        Check(cudaEventRecord(start_, stream_), "cudaEventRecord");
        f();
        Check(cudaEventRecord(end_, stream_), "cudaEventRecord");
        Check(cudaEventSynchronize(end_), "cudaEventSynchronize");
        float time = 0;
        Check(cudaEventElapsedTime(&time, start_, end_), "cudaEventElapsedTime");
        return time;
    }

private:
    cudaStream_t stream_;
    cudaEvent_t start_{};
    cudaEvent_t end_{};
};

}  // namespace chainerx::cuda
