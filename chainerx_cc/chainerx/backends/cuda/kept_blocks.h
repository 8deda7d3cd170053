#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace chainerx::cuda {

// Small free blocks of the default stream, for the next arrays in it: to ask the driver for one and to give it back
// takes as long as to launch a kernel. Work in a stream runs in order, so a block may be in use until its next user
// starts. CHAINERX_CUDA_KEPT_BYTES limits them: with 0, each array gets a block of the driver, which tools that look
// for late reads need.
class KeptBlocks {
public:
    KeptBlocks();
    KeptBlocks(const KeptBlocks&) = delete;
    KeptBlocks& operator=(const KeptBlocks&) = delete;

    // How much to ask the driver for, such that the block can be kept.
    static size_t Round(size_t bytes);
    // A block of a rounded size, or null.
    void* Take(size_t bytes) noexcept;
    // False if there is no room.
    bool Keep(void* block, size_t bytes) noexcept;
    // Empties it.
    std::vector<void*> TakeAll();

private:
    std::mutex mutex_;
    std::vector<std::vector<void*>> bins_;  // by size
    size_t bytes_{0};
    size_t limit_;
};

}  // namespace chainerx::cuda
