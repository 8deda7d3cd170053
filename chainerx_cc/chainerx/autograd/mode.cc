#include "chainerx/autograd/mode.h"

#include <utility>

#include "chainerx/core/context.h"

namespace chainerx {
namespace internal {

thread_local GraphMask t_disabled_graphs = 0;

namespace {

struct ModeEntry {
    const Context* context;  // all graphs of it, including later ones; null when `ids` are meant
    std::vector<BackpropId> ids;
    bool enabled;
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

BackpropModeScope::BackpropModeScope(Context& context, bool enabled) : previous_{internal::t_disabled_graphs} {
    internal::t_modes.push_back({&context, {}, enabled});
    internal::Apply(internal::t_modes.back());
}

BackpropModeScope::BackpropModeScope(std::vector<BackpropId> ids, bool enabled)
    : previous_{internal::t_disabled_graphs} {
    for (const BackpropId& id : ids) id.CheckValid();
    internal::t_modes.push_back({nullptr, std::move(ids), enabled});
    internal::Apply(internal::t_modes.back());
}

BackpropModeScope::~BackpropModeScope() {
    internal::t_modes.pop_back();
    internal::t_disabled_graphs = previous_;
}

bool IsBackpropRequired(const BackpropId& id) {
    id.CheckValid();
    return (internal::t_disabled_graphs & id.mask()) == 0;
}

bool IsBackpropRequired(Context& context) { return IsBackpropRequired(context.default_backprop_id()); }

}  // namespace chainerx
