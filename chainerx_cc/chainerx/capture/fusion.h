#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {

// What a rewriting may do with the memory of an array.
enum class FusedMemory : uint8_t {
    kScratch,  // made and read by the calls alone
    kResult,   // made by the calls and read outside
    kOther,
};

// Rewrites recorded calls, for fewer passes over memory. Results stay the same to the last bit:
//
//   - a kernel writes directly to where its output would be copied,
//   - an elementwise kernel writes over an operand that nothing reads afterwards,
//   - sums at indices that are added to an array go there, without an array of zeros,
//   - elementwise kernels in a row run tile by tile, so that what they pass on stays in the cache.
class Fusion {
public:
    using Calls = std::vector<std::unique_ptr<KernelCall>>;

    // Changes `calls` and the numbers in `segment_ends`.
    Fusion(Device& device, Calls& calls, std::vector<size_t>& segment_ends,
           std::function<FusedMemory(const Storage&)> get_memory)
        : device_{device}, calls_{calls}, segment_ends_{segment_ends}, get_memory_{std::move(get_memory)} {}
    void Run();

private:
    // The numbers of the calls that use some memory, in order.
    using Uses = std::vector<size_t>;

    void FindUses();
    void LeaveOutCopies();
    void AddSumsDirectly();
    void WriteInPlace();
    void MakeTiles();
    void RemoveGaps();

    std::vector<Array> ArraysOf(size_t call) const;
    FusedMemory MemoryOf(const Array& a) const { return get_memory_(*a.body()->storage); }
    const Uses& UsesOf(const Array& a) const { return uses_.at(a.body()->storage.get()); }
    // Whether an array whose memory is all of `from` can lie in that of `to`, which the call `i` is the first to use,
    // and the last to use that of `from`.
    bool CanMove(const Array& from, const Array& to, size_t i) const;
    // Lets arrays in the memory of `from` use that of `to`.
    void Move(const Array& from, const Array& to);
    bool EndsSegment(size_t call) const;

    bool AreSumsAdded(const Array& z, size_t i) const;
    // Null if the backend lacks the kernel.
    static std::unique_ptr<KernelCall> MakeSumCall(const KernelCall& add_at, const Array& out);

    Device& device_;
    Calls& calls_;  // null ones are left out
    std::vector<size_t>& segment_ends_;
    std::function<FusedMemory(const Storage&)> get_memory_;
    std::unordered_map<const Storage*, Uses> uses_;
};

}  // namespace chainerx
