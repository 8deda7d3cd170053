#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/backprop_id.h"
#include "chainerx/core/device.h"
#include "chainerx/core/intrusive_ptr.h"
#include "chainerx/core/random_generator.h"

namespace chainerx {

class Context;
// Keeps a shared context.
using ContextPtr = IntrusivePtr<Context>;

// Owns backends and graphs. Arrays of different contexts are independent.
class Context {
public:
    Context() : Context{false} {}
    ~Context();
    // A context that ends with its last user: a ContextPtr, or an array on one of its devices.
    static ContextPtr MakeShared();
    // Null for no context, and for a context with an owner, who deletes it after its last use.
    static ContextPtr Share(Context* context) noexcept {
        return ContextPtr{context != nullptr && context->is_shared_ ? context : nullptr};
    }
    // Releases the graphs and stops being the default context of any thread. Its devices and their arrays stay usable,
    // so this is safe even if something may still refer to its devices.
    void Close() noexcept;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // The first call makes the backend: a built-in or registered one, otherwise one of a shared library (see
    // core/backend.h). Raises BackendError if there is no working backend of that name.
    Backend& GetBackend(const std::string& name);
    // "native:1", or "native" for its first device.
    Device& GetDevice(const std::string& name);

    BackpropId MakeBackpropId(std::string name);
    void ReleaseBackpropId(const BackpropId& id);
    void CheckValidBackpropId(const BackpropId& id) const;
    BackpropId default_backprop_id() { return default_backprop_id_; }

    bool is_shared() const noexcept { return is_shared_; }
    void AddRef() noexcept { use_count_.fetch_add(1, std::memory_order_relaxed); }
    bool DropRef() noexcept { return use_count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    static void Destroy(Context* context) noexcept { delete context; }

    // The generator of random operations on arrays of this context.
    RandomGenerator& random_generator() { return random_generator_; }

private:
    explicit Context(bool is_shared);
    void ReleaseGraphs() noexcept;

    const bool is_shared_;
    std::atomic<int64_t> use_count_{0};
    std::recursive_mutex mutex_;  // recursive: making a backend may make others
    std::map<std::string, std::unique_ptr<Backend>> backends_;
    std::set<std::string> unfinished_backends_;
    BackpropId default_backprop_id_;
    RandomGenerator random_generator_;
};

// The default context of the calling thread, or the global one if it has none.
Context& GetDefaultContext();
void SetDefaultContext(Context* context);
Context& GetGlobalDefaultContext();
namespace internal {
Context* GetDefaultContextOrNull() noexcept;
}
void SetGlobalDefaultContext(Context* context);

class ContextScope {
public:
    explicit ContextScope(Context& context);
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    Context* previous_context_;
    Device* previous_device_;
    ContextPtr kept_contexts_[2];
};

// Makes a backend known to contexts that do not have one of this name yet.
using BackendFactory = std::unique_ptr<Backend> (*)(Context&);
void RegisterBackend(const std::string& name, BackendFactory factory);

}  // namespace chainerx
