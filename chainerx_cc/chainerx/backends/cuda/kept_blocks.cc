#include "chainerx/backends/cuda/kept_blocks.h"

#include <cstdlib>
#include <new>

namespace chainerx::cuda {
namespace {

constexpr size_t kUnit = 512;  // the driver's blocks are multiples of it
constexpr size_t kLargest = size_t{1} << 20;
constexpr size_t kMostBytes = size_t{64} << 20;

size_t GetLimit() {
    const char* text = std::getenv("CHAINERX_CUDA_KEPT_BYTES");
    return text == nullptr ? kMostBytes : std::strtoull(text, nullptr, 10);
}

}  // namespace

KeptBlocks::KeptBlocks() : bins_(kLargest / kUnit + 1), limit_{GetLimit()} {}

size_t KeptBlocks::Round(size_t bytes) { return bytes > kLargest ? bytes : (bytes + kUnit - 1) / kUnit * kUnit; }

void* KeptBlocks::Take(size_t bytes) noexcept {
    if (bytes > kLargest) return nullptr;
    std::lock_guard<std::mutex> lock{mutex_};
    std::vector<void*>& bin = bins_[bytes / kUnit];
    if (bin.empty()) return nullptr;
    void* block = bin.back();
    bin.pop_back();
    bytes_ -= bytes;
    return block;
}

bool KeptBlocks::Keep(void* block, size_t bytes) noexcept {
    if (bytes > kLargest) return false;
    std::lock_guard<std::mutex> lock{mutex_};
    if (bytes_ + bytes > limit_) return false;
    try {
        bins_[bytes / kUnit].push_back(block);
    } catch (const std::bad_alloc&) {
        return false;
    }
    bytes_ += bytes;
    return true;
}

std::vector<void*> KeptBlocks::TakeAll() {
    std::lock_guard<std::mutex> lock{mutex_};
    std::vector<void*> all;
    for (std::vector<void*>& bin : bins_) {
        all.insert(all.end(), bin.begin(), bin.end());
        bin.clear();
    }
    bytes_ = 0;
    return all;
}

}  // namespace chainerx::cuda
