#pragma once

#include <optional>
#include <vector>

#include "chainerx/core/backprop_id.h"

namespace chainerx {

namespace internal {

// Graphs that the calling thread does not record now.
extern thread_local GraphMask t_disabled_graphs;

// Recomputes the mask, after a graph is made inside a scope that covers a whole context.
void RefreshBackpropMode();
void ForgetContext(const Context& context);

// Disables recording in some graphs during a backward pass.
class DisableGraphsScope {
public:
    explicit DisableGraphsScope(GraphMask mask) : previous_{t_disabled_graphs} { t_disabled_graphs |= mask; }
    ~DisableGraphsScope() { t_disabled_graphs = previous_; }
    DisableGraphsScope(const DisableGraphsScope&) = delete;
    DisableGraphsScope& operator=(const DisableGraphsScope&) = delete;

private:
    GraphMask previous_;
};

}  // namespace internal

// Turns recording on or off in this thread, for the given graphs or for all graphs of a context. The innermost scope
// that names a graph decides. Leave scopes in the reverse order of entering them. A scope that is left too early stays
// in force until the scopes inside it are left, and a scope that another thread leaves stays.
class BackpropModeScope {
public:
    BackpropModeScope(Context& context, bool enabled);
    BackpropModeScope(std::vector<BackpropId> ids, bool enabled);
    ~BackpropModeScope();
    BackpropModeScope(const BackpropModeScope&) = delete;
    BackpropModeScope& operator=(const BackpropModeScope&) = delete;
};

class NoBackpropModeScope : public BackpropModeScope {
public:
    explicit NoBackpropModeScope(Context& context) : BackpropModeScope{context, false} {}
    explicit NoBackpropModeScope(std::vector<BackpropId> ids) : BackpropModeScope{std::move(ids), false} {}
};

class ForceBackpropModeScope : public BackpropModeScope {
public:
    explicit ForceBackpropModeScope(Context& context) : BackpropModeScope{context, true} {}
    explicit ForceBackpropModeScope(std::vector<BackpropId> ids) : BackpropModeScope{std::move(ids), true} {}
};

// Whether the calling thread records computations in the graph (by default that of the default context).
bool IsBackpropRequired(const BackpropId& id);
bool IsBackpropRequired(Context& context);

}  // namespace chainerx
