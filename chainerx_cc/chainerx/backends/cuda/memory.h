#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "chainerx/backends/cuda/event.h"
#include "chainerx/backends/cuda/kept_blocks.h"
#include "chainerx/backends/cuda/stream.h"
#include "chainerx/core/memory_statistics.h"

namespace chainerx::cuda {

// The memory of a GPU: the driver's pool, which keeps free blocks and gives them out in the order of streams. CuPy and
// PyTorch can allocate from the same pool, so the libraries share free memory. All functions need the device to be
// current.
class MemoryPool {
public:
    MemoryPool(int device, StreamSet& streams);
    MemoryPool(const MemoryPool&) = delete;
    MemoryPool& operator=(const MemoryPool&) = delete;

    // Frees blocks that streams still use. There may be no others.
    void Close() noexcept;

    // Null if there is no room even after the device has done all its work. May wait then.
    void* Allocate(size_t bytes, cudaStream_t stream);
    // `stream`: the one of the allocation. Other streams that have work to do may use the block.
    void Free(void* block, size_t bytes, cudaStream_t stream) noexcept;
    // The same, of a block that no other stream uses.
    void FreeUnshared(void* block, size_t bytes, cudaStream_t stream) noexcept;

    // Lets another GPU reach the memory, if the two are connected.
    void AllowAccess(int device);
    // Waits for the device.
    void FreeUnused();
    void SetLimit(std::optional<size_t> bytes);
    MemoryStatistics GetStatistics();
    void ResetPeaks();

private:
    struct Block {
        void* data;
        size_t bytes;
        cudaStream_t stream;
        std::vector<Event> uses;  // in other streams
    };

    void* TryAllocate(size_t bytes, cudaStream_t stream);
    // What is returned must end without a lock.
    [[nodiscard]] StreamSet::Owner FreeInStream(void* block, size_t bytes, cudaStream_t stream) noexcept;
    // Frees blocks that other streams no longer use.
    void FreePassed();
    void FreeKept();

    int device_;
    cudaMemPool_t pool_{};
    StreamSet& streams_;
    KeptBlocks kept_;
    std::atomic<size_t> limit_;
    std::atomic<size_t> used_{0};
    std::atomic<size_t> peak_used_{0};
    std::atomic<uint64_t> allocations_{0};
    std::atomic<uint64_t> retries_{0};
    std::atomic<size_t> waiting_count_{0};
    std::mutex mutex_;
    std::deque<Block> waiting_;
    std::vector<int> accessed_by_;
};

}  // namespace chainerx::cuda
