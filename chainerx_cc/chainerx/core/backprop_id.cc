#include "chainerx/core/backprop_id.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx {
namespace internal {
namespace {

constexpr int kSlots = 64;

std::mutex g_mutex;
std::array<GraphSlot, kSlots> g_slots;
std::array<std::atomic<uint64_t>, kSlots> g_births;
std::atomic<uint64_t> g_clock{0};

}  // namespace

BackpropId AllocateGraphSlot(Context& context, std::string name) {
    std::lock_guard<std::mutex> lock{g_mutex};
    for (int i = 0; i < kSlots; ++i) {
        GraphSlot& slot = g_slots[i];
        if (slot.context != nullptr) continue;
        uint64_t birth = g_clock.load() + 1;
        slot = GraphSlot{&context, birth, std::move(name)};
        g_births[i].store(birth);
        g_clock.store(birth);
        return BackpropId{context, i, birth};
    }
    throw ContextError{"too many backprop ids: at most ", kSlots, " can exist at a time"};
}

void ReleaseGraphSlot(const BackpropId& id) {
    std::lock_guard<std::mutex> lock{g_mutex};
    g_slots[id.slot()] = GraphSlot{};
    // Nothing that exists now belongs to the next graph in this slot.
    g_births[id.slot()].store(~uint64_t{0});
}

bool IsGraphSlotCurrent(const BackpropId& id) {
    std::lock_guard<std::mutex> lock{g_mutex};
    const GraphSlot& slot = g_slots[id.slot()];
    return slot.context != nullptr && slot.birth == id.birth();
}

bool IsGraphSlotCurrent(int slot, uint64_t birth) noexcept {
    return g_births[slot].load(std::memory_order_relaxed) == birth;
}

std::vector<std::string> GetGraphNames(GraphMask mask) {
    std::lock_guard<std::mutex> lock{g_mutex};
    std::vector<std::string> names;
    for (; mask != 0; mask &= mask - 1) names.push_back(g_slots[__builtin_ctzll(mask)].name);
    return names;
}

GraphMask GetContextMask(const Context& context) {
    std::lock_guard<std::mutex> lock{g_mutex};
    GraphMask mask = 0;
    for (int i = 0; i < kSlots; ++i) {
        if (g_slots[i].context == &context) mask |= GraphMask{1} << i;
    }
    return mask;
}

uint64_t GetGraphClock() noexcept { return g_clock.load(std::memory_order_relaxed); }

GraphMask PruneMask(GraphMask mask, uint64_t clock) noexcept {
    for (GraphMask rest = mask; rest != 0; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        if (g_births[i].load(std::memory_order_relaxed) > clock) mask &= ~(GraphMask{1} << i);
    }
    return mask;
}

}  // namespace internal

std::string BackpropId::GetName() const {
    CheckValid();
    std::lock_guard<std::mutex> lock{internal::g_mutex};
    return internal::g_slots[slot_].name;
}

void BackpropId::CheckValid() const {
    if (context_ == nullptr || !internal::IsGraphSlotCurrent(*this)) {
        throw ChainerxError{"the backprop id is no longer valid: its graph has been released"};
    }
}

}  // namespace chainerx
