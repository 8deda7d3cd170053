#include "chainerx/backends/cuda/memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "chainerx/backends/cuda/error.h"
#include "chainerx/core/blocking.h"

namespace chainerx::cuda {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

uint64_t GetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = 0;
    Check(cudaMemPoolGetAttribute(pool, attribute, &value), "cudaMemPoolGetAttribute");
    return value;
}
void SetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, uint64_t value) {
    Check(cudaMemPoolSetAttribute(pool, attribute, &value), "cudaMemPoolSetAttribute");
}

}  // namespace

MemoryPool::MemoryPool(int device, StreamSet& streams) : device_{device}, streams_{streams} {
    Check(cudaDeviceGetDefaultMemPool(&pool_, device), "cudaDeviceGetDefaultMemPool");
    SetLimit(std::nullopt);
}

void MemoryPool::Close() noexcept {
    cudaDeviceSynchronize();
    FreePassed();
    FreeKept();
}

void* MemoryPool::Allocate(size_t bytes, cudaStream_t stream) {
    bytes = std::max<size_t>(bytes, 1);
    if (waiting_count_.load(std::memory_order_relaxed) != 0) FreePassed();
    void* block = TryAllocate(bytes, stream);
    if (block == nullptr) {
        FreeUnused();  // the pool may be fragmented
        block = TryAllocate(bytes, stream);
        if (block == nullptr) return nullptr;
        retries_.fetch_add(1, std::memory_order_relaxed);
    }
    streams_.AddUser(stream);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return block;
}

void* MemoryPool::TryAllocate(size_t bytes, cudaStream_t stream) {
    size_t used = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    void* block = nullptr;
    cudaError_t error = cudaErrorMemoryAllocation;
    if (used >= bytes && used <= limit_.load(std::memory_order_relaxed)) {
        size_t rounded = KeptBlocks::Round(bytes);
        if (stream == nullptr) block = kept_.Take(rounded);
        error = block != nullptr ? cudaSuccess : cudaMallocAsync(&block, rounded, stream);
    }
    if (error == cudaSuccess) {
        size_t peak = peak_used_.load(std::memory_order_relaxed);
        while (peak < used && !peak_used_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
        }
        return block;
    }
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (error != cudaErrorMemoryAllocation) ThrowCudaError(error, "cudaMallocAsync");
    cudaGetLastError();
    return nullptr;
}

void MemoryPool::FreeUnshared(void* block, size_t bytes, cudaStream_t stream) noexcept {
    StreamSet::Owner owner = FreeInStream(block, std::max<size_t>(bytes, 1), stream);
}

void MemoryPool::Free(void* block, size_t bytes, cudaStream_t stream) noexcept {
    bytes = std::max<size_t>(bytes, 1);
    if (streams_.HasSeveral()) {
        try {
            Block used{block, bytes, stream, {}};
            for (cudaStream_t other : streams_.GetBusy(stream)) used.uses.emplace_back(other);
            if (!used.uses.empty()) {
                std::lock_guard<std::mutex> lock{mutex_};
                waiting_.push_back(std::move(used));
                waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
                return;
            }
        } catch (...) {
            cudaDeviceSynchronize();  // also ends the uses
        }
    }
    StreamSet::Owner owner = FreeInStream(block, bytes, stream);
}

StreamSet::Owner MemoryPool::FreeInStream(void* block, size_t bytes, cudaStream_t stream) noexcept {
    bool is_kept = stream == nullptr && kept_.Keep(block, KeptBlocks::Round(bytes));
    // Errors of earlier kernels show here again; the next synchronization raises them.
    if (!is_kept) cudaFreeAsync(block, stream);
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    return streams_.RemoveUser(stream);
}

void MemoryPool::FreePassed() {
    std::vector<StreamSet::Owner> owners;
    std::lock_guard<std::mutex> lock{mutex_};
    while (!waiting_.empty()) {
        const Block& first = waiting_.front();
        bool passed = std::all_of(first.uses.begin(), first.uses.end(), [](const Event& e) { return e.HasPassed(); });
        if (!passed) break;
        if (StreamSet::Owner owner = FreeInStream(first.data, first.bytes, first.stream)) {
            owners.push_back(std::move(owner));
        }
        waiting_.pop_front();
    }
    waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
}

void MemoryPool::FreeKept() {
    for (void* block : kept_.TakeAll()) cudaFreeAsync(block, nullptr);
}

void MemoryPool::FreeUnused() {
    BlockingScope blocking;
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    FreePassed();
    FreeKept();
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // which frees them
    Check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
}

void MemoryPool::AllowAccess(int device) {
    std::lock_guard<std::mutex> lock{mutex_};
    if (std::find(accessed_by_.begin(), accessed_by_.end(), device) != accessed_by_.end()) return;
    int is_connected = 0;
    Check(cudaDeviceCanAccessPeer(&is_connected, device, device_), "cudaDeviceCanAccessPeer");
    if (is_connected != 0) {
        cudaMemAccessDesc access{};
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = device;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        Check(cudaMemPoolSetAccess(pool_, &access, 1), "cudaMemPoolSetAccess");
    }
    accessed_by_.push_back(device);  // else the driver copies through the host
}

void MemoryPool::SetLimit(std::optional<size_t> bytes) {
    limit_.store(bytes.value_or(kNoLimit), std::memory_order_relaxed);
    // What the pool keeps when something waits for the device.
    SetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, bytes.value_or(kNoLimit));
}

MemoryStatistics MemoryPool::GetStatistics() {
    size_t limit = limit_.load();
    return {used_.load(),
            peak_used_.load(),
            GetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent),
            GetAttribute(pool_, cudaMemPoolAttrReservedMemHigh),
            allocations_.load(),
            retries_.load(),
            limit == kNoLimit ? std::nullopt : std::optional{limit}};
}

void MemoryPool::ResetPeaks() {
    peak_used_.store(used_.load());
    allocations_.store(0);
    retries_.store(0);
    SetAttribute(pool_, cudaMemPoolAttrReservedMemHigh, 0);  // the only value CUDA takes; means the present size
}

}  // namespace chainerx::cuda
