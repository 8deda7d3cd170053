#include "chainerx/core/context.h"

#include <utility>

#include "chainerx/core/backend_library.h"
#include "chainerx/core/backprop_mode.h"

namespace chainerx {
namespace {

class BackendRegistry {
public:
    void Add(const std::string& name, BackendFactory factory) {
        std::lock_guard<std::mutex> lock{mutex_};
        factories_[name] = factory;
    }

    std::unique_ptr<Backend> Make(Context& context, const std::string& name) {
        BackendFactory factory = nullptr;
        std::string known;
        {
            std::lock_guard<std::mutex> lock{mutex_};
            auto entry = factories_.find(name);
            if (entry != factories_.end()) factory = entry->second;
            for (const auto& other : factories_) known += (known.empty() ? "" : ", ") + other.first;
        }
        if (factory != nullptr) return factory(context);
        return internal::LoadBackend(context, name, known);
    }

    static BackendRegistry& Get() {
        static BackendRegistry registry;
        return registry;
    }

private:
    std::mutex mutex_;
    std::map<std::string, BackendFactory> factories_;
};

thread_local Context* t_default_context;
// Keeps the same context.
thread_local ContextPtr t_default_context_owner;
std::atomic<Context*> g_default_context{nullptr};

}  // namespace

Context::Context(bool is_shared)
    : is_shared_{is_shared}, default_backprop_id_{internal::AllocateGraphSlot(*this, "<default>")} {}

ContextPtr Context::MakeShared() { return ContextPtr{new Context{true}}; }

Context::~Context() {
    // No thread refers to a shared context when it ends.
    is_shared_ ? ReleaseGraphs() : Close();
}

void Context::ReleaseGraphs() noexcept {
    GraphMask mask = internal::GetContextMask(*this);
    for (; mask != 0; mask &= mask - 1) {
        internal::ReleaseGraphSlot(BackpropId{*this, __builtin_ctzll(mask), 0});
    }
}

void Context::Close() noexcept {
    internal::ForgetContext(*this);
    ReleaseGraphs();
    Device* device = internal::GetDefaultDeviceOrNull();
    if (device != nullptr && &device->context() == this) SetDefaultDevice(nullptr);
    if (t_default_context == this) SetDefaultContext(nullptr);
    Context* expected = this;
    g_default_context.compare_exchange_strong(expected, nullptr);
}

Backend& Context::GetBackend(const std::string& name) {
    std::lock_guard<std::recursive_mutex> lock{mutex_};
    auto present = backends_.find(name);
    if (present != backends_.end()) return *present->second;
    auto [unfinished, is_first] = unfinished_backends_.insert(name);
    if (!is_first) throw BackendError{"backend '", name, "' asked for itself while it was made"};
    struct Finish {
        std::set<std::string>& names;
        std::set<std::string>::iterator name;
        ~Finish() { names.erase(name); }
    } finish{unfinished_backends_, unfinished};
    return *backends_.emplace(name, BackendRegistry::Get().Make(*this, name)).first->second;
}

Device& Context::GetDevice(const std::string& name) {
    size_t colon = name.find(':');
    if (colon == std::string::npos) return GetBackend(name).GetDevice(0);
    std::string index = name.substr(colon + 1);
    if (index.empty() || index.size() > 6 || index.find_first_not_of("0123456789") != std::string::npos) {
        throw DeviceError{"invalid device name '", name, "': expected '<backend>' or '<backend>:<index>'"};
    }
    return GetBackend(name.substr(0, colon)).GetDevice(std::stoi(index));
}

BackpropId Context::MakeBackpropId(std::string name) {
    BackpropId id = internal::AllocateGraphSlot(*this, std::move(name));
    internal::RefreshBackpropMode();
    return id;
}

void Context::ReleaseBackpropId(const BackpropId& id) {
    CheckValidBackpropId(id);
    if (id == default_backprop_id_) throw ChainerxError{"the default backprop id of a context cannot be released"};
    internal::ReleaseGraphSlot(id);
}

void Context::CheckValidBackpropId(const BackpropId& id) const {
    id.CheckValid();
    if (&id.context() != this) throw ContextError{"the backprop id '", id.GetName(), "' belongs to another context"};
}

Context& GetGlobalDefaultContext() {
    Context* context = g_default_context.load();
    if (context == nullptr) throw ContextError{"the global default context is not set"};
    return *context;
}
void SetGlobalDefaultContext(Context* context) { g_default_context.store(context); }

Context& GetDefaultContext() { return t_default_context != nullptr ? *t_default_context : GetGlobalDefaultContext(); }

namespace internal {
Context* GetDefaultContextOrNull() noexcept {
    return t_default_context != nullptr ? t_default_context : g_default_context.load();
}
}  // namespace internal

void SetDefaultContext(Context* context) {
    if (t_default_context == context) return;
    SetDefaultDevice(nullptr);
    t_default_context = context;
    t_default_context_owner = Context::Share(context);
}

ContextScope::ContextScope(Context& context)
    : previous_context_{t_default_context},
      previous_device_{internal::GetDefaultDeviceOrNull()},
      kept_contexts_{Context::Share(previous_context_),
                     Context::Share(previous_device_ == nullptr ? nullptr : &previous_device_->context())} {
    SetDefaultContext(&context);
}

ContextScope::~ContextScope() {
    SetDefaultContext(previous_context_);
    internal::RestoreDefaultDevice(previous_device_);
}

void RegisterBackend(const std::string& name, BackendFactory factory) { BackendRegistry::Get().Add(name, factory); }

}  // namespace chainerx
