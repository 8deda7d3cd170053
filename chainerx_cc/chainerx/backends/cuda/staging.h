#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <mutex>

#include "chainerx/backends/cuda/event.h"

namespace chainerx::cuda {

// Pinned memory of the host for copies to a GPU. A copy from other memory of the host would first wait for the work of
// its stream. The memory is a ring, so that a copy waits for an earlier one only if much is on its way.
class Staging {
public:
    Staging() = default;
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // Has read `from` when it returns. The device of the stream must be current.
    void Copy(void* to, const void* from, size_t bytes, cudaStream_t stream);

private:
    struct Range {
        size_t begin;
        size_t end;
        Event copied;
    };

    // The place of so many bytes, whose earlier content has arrived.
    size_t Take(size_t bytes);

    std::mutex mutex_;
    char* ring_{};
    size_t next_{0};
    std::deque<Range> on_the_way_;
};

}  // namespace chainerx::cuda
