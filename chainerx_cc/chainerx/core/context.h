#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "chainerx/core/backend.h"
#include "chainerx/core/backprop_id.h"
#include "chainerx/core/device.h"
#include "chainerx/core/random_generator.h"

namespace chainerx {

// Owns backends and graphs. Arrays of different contexts know nothing of each other.
class Context {
public:
    Context();
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // Raises BackendError when there is no backend of that name.
    Backend& GetBackend(const std::string& name);
    // "native:1", or "native" for its first device.
    Device& GetDevice(const std::string& name);

    BackpropId MakeBackpropId(std::string name);
    void ReleaseBackpropId(const BackpropId& id);
    void CheckValidBackpropId(const BackpropId& id) const;
    BackpropId default_backprop_id() { return default_backprop_id_; }

    // What random operations on arrays of this context draw from.
    RandomGenerator& random_generator() { return random_generator_; }

private:
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Backend>> backends_;
    BackpropId default_backprop_id_;
    RandomGenerator random_generator_;
};

// The calling thread's default context, else the global one.
Context& GetDefaultContext();
void SetDefaultContext(Context* context);
Context& GetGlobalDefaultContext();
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
};

// Backends built into the library register a factory under their name.
using BackendFactory = std::unique_ptr<Backend> (*)(Context&);
void RegisterBackend(const std::string& name, BackendFactory factory);

namespace internal {
void RegisterBuiltinBackends();
}

}  // namespace chainerx
