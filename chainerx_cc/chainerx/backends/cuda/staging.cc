#include "chainerx/backends/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "chainerx/backends/cuda/error.h"

namespace chainerx::cuda {
namespace {

constexpr size_t kRing = size_t{32} << 20;
// Of a long copy, one part is on its way while the next is put into the ring.
constexpr size_t kPart = size_t{4} << 20;
constexpr size_t kAlignment = 256;

}  // namespace

Staging::~Staging() {
    if (ring_ != nullptr) cudaFreeHost(ring_);
}

size_t Staging::Take(size_t bytes) {
    size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    size_t begin = next_ + rounded > kRing ? 0 : next_;
    while (!on_the_way_.empty()) {
        const Range& oldest = on_the_way_.front();
        bool overlaps = oldest.begin < begin + rounded && begin < oldest.end;
        bool is_skipped = begin < next_ && oldest.begin >= next_;  // at the end of the ring
        if (overlaps || is_skipped) {
            oldest.copied.Wait();
        } else if (!oldest.copied.HasPassed()) {
            break;
        }
        on_the_way_.pop_front();
    }
    next_ = begin + rounded;
    return begin;
}

void Staging::Copy(void* to, const void* from, size_t bytes, cudaStream_t stream) {
    std::lock_guard<std::mutex> lock{mutex_};
    if (ring_ == nullptr) Check(cudaMallocHost(reinterpret_cast<void**>(&ring_), kRing), "cudaMallocHost");
    for (size_t done = 0; done < bytes;) {
        size_t part = std::min(kPart, bytes - done);
        size_t begin = Take(part);
        std::memcpy(ring_ + begin, static_cast<const char*>(from) + done, part);
        Check(cudaMemcpyAsync(static_cast<char*>(to) + done, ring_ + begin, part, cudaMemcpyHostToDevice, stream),
              "a copy from the host");
        on_the_way_.push_back({begin, next_, Event{stream}});
        done += part;
    }
}

}  // namespace chainerx::cuda
