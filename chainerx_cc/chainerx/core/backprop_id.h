#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chainerx {

class Context;

// Names one computational graph. Up to 64 graphs exist at a time in a process; each has a bit in a GraphMask.
class BackpropId {
public:
    BackpropId() = default;
    BackpropId(Context& context, int slot, uint64_t birth) : context_{&context}, slot_{slot}, birth_{birth} {}

    Context& context() const { return *context_; }
    int slot() const { return slot_; }
    uint64_t birth() const { return birth_; }
    uint64_t mask() const { return uint64_t{1} << slot_; }
    std::string GetName() const;
    // Raises ChainerxError if the graph has been released.
    void CheckValid() const;

    friend bool operator==(const BackpropId& a, const BackpropId& b) {
        return a.slot_ == b.slot_ && a.birth_ == b.birth_;
    }
    friend bool operator!=(const BackpropId& a, const BackpropId& b) { return !(a == b); }

private:
    Context* context_{nullptr};
    int slot_{0};
    uint64_t birth_{0};
};

using GraphMask = uint64_t;

namespace internal {

// Slots are reused after a graph is released. `birth` counts creations: a node that is older than the present graph of
// a slot does not belong to it.
struct GraphSlot {
    Context* context;
    uint64_t birth;
    std::string name;
};

BackpropId AllocateGraphSlot(Context& context, std::string name);
void ReleaseGraphSlot(const BackpropId& id);
bool IsGraphSlotCurrent(const BackpropId& id);
std::vector<std::string> GetGraphNames(GraphMask mask);
// Bits of the present graphs of a context.
GraphMask GetContextMask(const Context& context);
// The same check without a lock, for a slot and the birth of its graph.
bool IsGraphSlotCurrent(int slot, uint64_t birth) noexcept;
uint64_t GetGraphClock() noexcept;
// Removes the bits of graphs born after `clock`.
GraphMask PruneMask(GraphMask mask, uint64_t clock) noexcept;

}  // namespace internal
}  // namespace chainerx
