#include "chainerx/core/backprop_mode.h"

#include <algorithm>
#include <utility>

#include "chainerx/core/context.h"

namespace chainerx {
namespace internal {

thread_local GraphMask t_disabled_graphs = 0;

namespace {

struct ModeEntry {
    const BackpropModeScope* scope;
    GraphMask previous;      // graphs disabled before
    const Context* context;  // all graphs of it, including later ones; null when `ids` are meant
    std::vector<BackpropId> ids;
    bool enabled;
    ContextPtr kept_context;
};

thread_local std::vector<ModeEntry> t_modes;

void Apply(const ModeEntry& entry) {
    GraphMask mask = 0;
    if (entry.context != nullptr) {
        mask = GetContextMask(*entry.context);
    } else {
        for (const BackpropId& id : entry.ids) {
            if (IsGraphSlotCurrent(id)) mask |= id.mask();
        }
    }
    t_disabled_graphs = entry.enabled ? t_disabled_graphs & ~mask : t_disabled_graphs | mask;
}

void Enter(const BackpropModeScope* scope, Context* context, std::vector<BackpropId> ids, bool enabled) {
    t_modes.push_back({scope, t_disabled_graphs, context, std::move(ids), enabled, Context::Share(context)});
    Apply(t_modes.back());
}

}  // namespace

void RefreshBackpropMode() {
    if (t_modes.empty()) return;
    t_disabled_graphs = 0;
    for (const ModeEntry& entry : t_modes) Apply(entry);
}

void ForgetContext(const Context& context) {
    for (ModeEntry& entry : t_modes) {
        if (entry.context == &context) entry.context = nullptr;
    }
}

}  // namespace internal

BackpropModeScope::BackpropModeScope(Context& context, bool enabled) { internal::Enter(this, &context, {}, enabled); }

BackpropModeScope::BackpropModeScope(std::vector<BackpropId> ids, bool enabled) {
    for (const BackpropId& id : ids) id.CheckValid();
    internal::Enter(this, nullptr, std::move(ids), enabled);
}

BackpropModeScope::~BackpropModeScope() {
    std::vector<internal::ModeEntry>& modes = internal::t_modes;
    auto entry = std::find_if(modes.begin(), modes.end(), [this](const auto& e) { return e.scope == this; });
    if (entry == modes.end()) return;
    // When the next inner scope is left, it restores the state from before this scope.
    (entry + 1 == modes.end() ? internal::t_disabled_graphs : (entry + 1)->previous) = entry->previous;
    modes.erase(entry);
}

bool IsBackpropRequired(const BackpropId& id) {
    id.CheckValid();
    return (internal::t_disabled_graphs & id.mask()) == 0;
}

bool IsBackpropRequired(Context& context) { return IsBackpropRequired(context.default_backprop_id()); }

}  // namespace chainerx
