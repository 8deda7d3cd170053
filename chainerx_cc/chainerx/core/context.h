#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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
    ~Context() { Close(); }
    // Releases the graphs, and makes the context the default of nothing. Its devices and their arrays stay usable: this
    // is how the life of a context ends for which nobody knows whether something refers to its devices still.
    void Close() noexcept;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    // A backend is made when it is first asked for: a built-in or registered one, else the one of a shared library (see
    // core/backend.h). Raises BackendError when there is none of that name, or none that works.
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
    std::recursive_mutex mutex_;  // a backend may ask for others while it is made
    std::map<std::string, std::unique_ptr<Backend>> backends_;
    std::set<std::string> unfinished_backends_;
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

// Makes a backend known to contexts that do not have one of this name yet.
using BackendFactory = std::unique_ptr<Backend> (*)(Context&);
void RegisterBackend(const std::string& name, BackendFactory factory);

}  // namespace chainerx
