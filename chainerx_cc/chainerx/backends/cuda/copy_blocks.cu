// Copies of many blocks at once.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/ops/block_copies.h"

namespace chainerx::cuda {
namespace {

constexpr size_t kMost = 128;  // as parameters of a kernel have 4 KiB
constexpr size_t kChunk = size_t{64} << 10;

struct alignas(16) Wide {
    uint64_t halves[2];
};

struct Copies {
    BlockCopy copy[kMost];
};

// A row of blocks of threads for each copy.
__global__ void CopyAll(const __grid_constant__ Copies copies) {
    const BlockCopy& copy = copies.copy[blockIdx.y];
    auto first = static_cast<size_t>(ThreadIndex());
    size_t step = size_t{gridDim.x} * blockDim.x;
    size_t wide = 0;
    if ((reinterpret_cast<uintptr_t>(copy.from) | reinterpret_cast<uintptr_t>(copy.to)) % sizeof(Wide) == 0) {
        wide = copy.bytes / sizeof(Wide);
        const auto* from = static_cast<const Wide*>(copy.from);
        auto* to = static_cast<Wide*>(copy.to);
        for (size_t i = first; i < wide; i += step) to[i] = from[i];
    }
    for (size_t i = wide * sizeof(Wide) + first; i < copy.bytes; i += step) {
        static_cast<char*>(copy.to)[i] = static_cast<const char*>(copy.from)[i];
    }
}

void CopyBlocks(Device& device, const std::vector<BlockCopy>& copies) {
    for (size_t begin = 0; begin < copies.size(); begin += kMost) {
        Copies part{};
        size_t count = std::min(kMost, copies.size() - begin);
        std::copy_n(copies.begin() + static_cast<int64_t>(begin), count, part.copy);
        size_t most = 0;
        for (size_t i = 0; i < count; ++i) most = std::max(most, part.copy[i].bytes);
        dim3 grid(static_cast<unsigned>(std::clamp<size_t>(most / kChunk, 1, 256)), static_cast<unsigned>(count));
        Launch("copies", device, grid, kBlock, &CopyAll, part);
    }
}

}  // namespace

const CudaKernels g_copy_blocks_kernels{[](Backend& backend) { kCopyBlocksKernel.Register(backend, &CopyBlocks); }};

}  // namespace chainerx::cuda
