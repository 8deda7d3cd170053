#include "chainerx/python/core_types.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/context.h"
#include "chainerx/python/autograd.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/docs/autograd.h"
#include "chainerx/python/docs/memory.h"
#include "chainerx/python/docs/stream.h"
#include "chainerx/python/object.h"
#include "chainerx/python/stream.h"

namespace chainerx::python {

// ---------------------------------------------------------------- conversions

template <>
struct Arg<Context> {
    static std::string Type() { return "Context"; }
    static Context& Get(PyObject* o, const char* name) {
        return *ValueArg<ContextRef>(o, name, "chainerx.Context").target;
    }
};
template <>
struct Arg<Context*> {
    static std::string Type() { return "Context | None"; }
    static Context* Get(PyObject* o, const char* name) {
        return o == Py_None ? nullptr : ValueArg<ContextRef>(o, name, "chainerx.Context or None").target;
    }
};
// Keeps the object, and so the context open.
struct ContextObject {
    Context* context;
    PyRef object;
};
template <>
struct Arg<ContextObject> {
    static std::string Type() { return Arg<Context>::Type(); }
    static ContextObject Get(PyObject* o, const char* name) { return {&Arg<Context>::Get(o, name), PyRef::Borrow(o)}; }
};
template <>
struct Arg<Backend> {
    static std::string Type() { return "Backend"; }
    static Backend& Get(PyObject* o, const char* name) {
        return *ValueArg<BackendRef>(o, name, "chainerx.Backend").target;
    }
};
template <>
struct ResultType<GraphRef> {
    static std::string Text() { return "BackpropId"; }
};

namespace {

// The objects that stand for C++ objects. Not owned.
std::unordered_map<const void*, PyObject*>& References() {
    static auto* references = new std::unordered_map<const void*, PyObject*>;
    return *references;
}

void RememberAt(const void* target, PyObject* self) { References()[target] = self; }

void ForgetAt(const void* target, PyObject* self) {
    auto found = References().find(target);
    if (found != References().end() && found->second == self) References().erase(found);
}

template <class Value, class T>
PyObject* ObjectOf(T& target, Value&& value) {
    auto found = References().find(&target);
    // An object that is ending may have run code of the user that asks for it.
    if (found != References().end() && Py_REFCNT(found->second) > 0) return Py_NewRef(found->second);
    return MakeObject(std::forward<Value>(value)).release();
}

}  // namespace

void Remember(const ContextRef& ref, PyObject* self) { RememberAt(ref.target, self); }
void Remember(const BackendRef& ref, PyObject* self) { RememberAt(ref.target, self); }
void Remember(const DeviceRef& ref, PyObject* self) { RememberAt(ref.target, self); }
void Forget(const ContextRef& ref, PyObject* self) { ForgetAt(ref.target, self); }
void Forget(const BackendRef& ref, PyObject* self) { ForgetAt(ref.target, self); }
void Forget(const DeviceRef& ref, PyObject* self) { ForgetAt(ref.target, self); }

PyObject* ToPython(Context& context) { return ObjectOf(context, ContextRef{context}); }
PyObject* ToPython(Backend& backend) {
    return ObjectOf(backend, BackendRef{&backend, Context::Share(&backend.context())});
}
PyObject* ToPython(Device& device) { return ObjectOf(device, DeviceRef{&device, Context::Share(&device.context())}); }

PyObject* ToPython(GraphRef id) { return MakeObject(std::move(id)).release(); }

namespace {

// ---------------------------------------------------------------- contexts, backends and devices

ContextRef NewContext() { return ContextRef{Context::MakeShared()}; }

Backend& GetBackend(Context& self, const std::string& name) { return self.GetBackend(name); }

Device& GetDevice(Context& self, const std::string& name, std::optional<int> index) {
    return index.has_value() ? self.GetBackend(name).GetDevice(*index) : self.GetDevice(name);
}

GraphRef MakeBackpropId(PyObject* self, const std::string& name) {
    return {Arg<Context>::Get(self, "self").MakeBackpropId(name), PyRef::Borrow(self)};
}
void ReleaseBackpropId(Context& self, const BackpropId& id) { self.ReleaseBackpropId(id); }
void CheckValidBackpropId(Context& self, const BackpropId& id) { self.CheckValidBackpropId(id); }

std::string GetBackendName(Backend& self) { return self.name(); }
Context& GetBackendContext(Backend& self) { return self.context(); }
Device& GetBackendDevice(Backend& self, int index) { return self.GetDevice(index); }
int GetBackendDeviceCount(Backend& self) { return self.GetDeviceCount(); }

std::string GetDeviceName(Device& self) { return self.name(); }
Backend& GetDeviceBackend(Device& self) { return self.backend(); }
Context& GetDeviceContext(Device& self) { return self.context(); }
int GetDeviceIndex(Device& self) { return self.index(); }
void Synchronize(Device& self) { self.Synchronize(); }
StreamRef GetDeviceStream(Device& self) { return {GetCurrentStream(self)}; }

PyDict GetMemoryStatistics(Device& self) {
    MemoryStatistics m = self.GetMemoryStatistics();
    PyRef limit = Check(ToPython(m.limit.has_value() ? std::optional{static_cast<int64_t>(*m.limit)} : std::nullopt));
    return Check(Py_BuildValue("{s:n,s:n,s:n,s:n,s:K,s:K,s:O}", "used", m.used, "peak_used", m.peak_used, "reserved",
                               m.reserved, "peak_reserved", m.peak_reserved, "allocations", m.allocations, "retries",
                               m.retries, "limit", limit.get()));
}
void ResetMemoryPeaks(Device& self) { self.ResetMemoryPeaks(); }
void SetMemoryLimit(Device& self, const std::optional<int64_t>& size) {
    if (size.value_or(0) < 0) throw ValueError{"size must not be negative, but is ", *size};
    self.SetMemoryLimit(size.has_value() ? std::optional{static_cast<size_t>(*size)} : std::nullopt);
}
void FreeUnusedBlocks(Device& self) { self.FreeUnusedBlocks(); }

std::string DeviceText(const DeviceRef& self) { return self.target->name(); }
bool IsSameDevice(const DeviceRef& a, const DeviceRef& b) { return a.target == b.target; }
Py_hash_t HashDevice(const DeviceRef& self) { return reinterpret_cast<Py_hash_t>(self.target) >> 4; }
PyTuple ReduceDevice(Device& self) {
    PyRef module = Check(PyImport_ImportModule("chainerx"));
    PyRef get_device = Check(PyObject_GetAttrString(module.get(), "get_device"));
    return Check(Py_BuildValue("O(s)", get_device.get(), self.name().c_str()));
}

std::string GetGraphName(const BackpropId& self) { return self.GetName(); }
Context& GetGraphContext(const BackpropId& self) { return self.context(); }
std::string GraphText(const GraphRef& self) { return "<BackpropId '" + self.id.GetName() + "'>"; }
bool IsSameGraph(const GraphRef& a, const GraphRef& b) { return a.id == b.id; }
Py_hash_t HashGraph(const GraphRef& self) { return static_cast<Py_hash_t>(self.id.birth() * 64 + self.id.slot()); }

// A context that was a default context stays open, because threads refer to it by address.
Context* KeepOpen(Context* context) {
    if (context != nullptr) Check(ToPython(*context)).release();
    return context;
}

// A device, the name of a device, or the name of a backend and an index.
HeldDevice GetDeviceFrom(PyObject* device, std::optional<int> index) {
    if (!index.has_value()) return HeldDevice{&GetDeviceArg(device)};
    std::string backend = Arg<std::string>::Get(device, "device");
    return HeldDevice{&GetDefaultContext().GetBackend(backend).GetDevice(*index)};
}

Backend& GetBackendByName(const std::string& name) { return GetDefaultContext().GetBackend(name); }
void PySetDefaultContext(Context* context) { SetDefaultContext(KeepOpen(context)); }
void PySetGlobalDefaultContext(Context* context) { SetGlobalDefaultContext(KeepOpen(context)); }
void PySetDefaultDevice(Device& device) { SetDefaultDevice(&device); }

bool PyIsBackpropRequired(PyObject* what) {
    if (what == Py_None) return IsBackpropRequired(GetDefaultContext());
    if (Is<GraphRef>(what)) return IsBackpropRequired(ValueOf<GraphRef>(what).id);
    return IsBackpropRequired(*ValueArg<ContextRef>(what, "context", "chainerx.Context, BackpropId or None").target);
}

// ---------------------------------------------------------------- scopes

// A context manager around a C++ scope object.
template <class Scope, class Holder>
class ScopeManager {
public:
    using Enter = std::unique_ptr<Scope> (*)(const Holder&);
    ScopeManager(Holder holder, Enter enter) : holder_{std::move(holder)}, enter_{enter} {}
    const Holder& holder() const { return holder_; }
    void Begin() {
        if (scope_ != nullptr) throw ChainerxError{"the scope has been entered already"};
        scope_ = enter_(holder_);
    }
    void End() { scope_.reset(); }

private:
    Holder holder_;
    Enter enter_;
    std::unique_ptr<Scope> scope_;
};

using ContextManager = ScopeManager<ContextScope, ContextObject>;
using DeviceManager = ScopeManager<DeviceScope, HeldDevice>;

struct ModeArgs {
    Context* context;
    std::vector<BackpropId> ids;
    ContextPtr kept_context;
};
struct NoBackpropManager : ScopeManager<BackpropModeScope, ModeArgs> {
    using ScopeManager::ScopeManager;
};
struct ForceBackpropManager : ScopeManager<BackpropModeScope, ModeArgs> {
    using ScopeManager::ScopeManager;
};

// No argument, a context, a backprop id, or a list of backprop ids.
ModeArgs GetModeArgs(PyObject* what) {
    if (what == Py_None) return {nullptr, {}, nullptr};
    if (Is<ContextRef>(what)) {
        Context* context = ValueOf<ContextRef>(what).target;
        return {context, {}, Context::Share(context)};
    }
    if (Is<GraphRef>(what)) return {nullptr, {ValueOf<GraphRef>(what).id}, nullptr};
    return {nullptr, Arg<std::vector<BackpropId>>::Get(what, "backprop_ids"), nullptr};
}

template <class Manager, bool kEnabled>
Manager NewMode(PyObject* what) {
    return {GetModeArgs(what), [](const ModeArgs& args) {
                if (!args.ids.empty()) return std::make_unique<BackpropModeScope>(args.ids, kEnabled);
                Context& context = args.context != nullptr ? *args.context : GetDefaultContext();
                return std::make_unique<BackpropModeScope>(context, kEnabled);
            }};
}

ContextManager NewContextScope(const ContextObject& context) {
    return {context, [](const ContextObject& held) { return std::make_unique<ContextScope>(*held.context); }};
}

DeviceManager NewDeviceScope(PyObject* device, std::optional<int> index) {
    if (device == Py_None) ThrowTypeError("device must be chainerx.Device or str, not None");
    return {GetDeviceFrom(device, index), [](const HeldDevice& held) { return std::make_unique<DeviceScope>(held); }};
}
HeldDevice GetScopeDevice(const DeviceManager& self) { return self.holder(); }
PyRef EnterDevice(PyObject* self) {
    ValueOf<DeviceManager>(self).Begin();
    return PyRef::Borrow(self);
}

class BackpropScopeManager {
public:
    BackpropScopeManager(std::string name, std::optional<ContextObject> context)
        : name_{std::move(name)}, context_{std::move(context)} {}
    GraphRef Begin() {
        if (id_.has_value()) throw ChainerxError{"the scope has been entered already"};
        Context& context = context_.has_value() ? *context_->context : GetDefaultContext();
        PyRef object = Check(ToPython(context));
        id_ = context.MakeBackpropId(name_);
        return {*id_, object};
    }
    void End() {
        if (!id_.has_value()) return;
        BackpropId id = *id_;
        id_.reset();
        id.context().ReleaseBackpropId(id);
    }

private:
    std::string name_;
    std::optional<ContextObject> context_;
    std::optional<BackpropId> id_;
};

BackpropScopeManager NewBackpropScope(const std::string& name, const std::optional<ContextObject>& context) {
    return {name, context};
}

// The classes of scopes, as parameters of their methods.
template <class Manager>
struct ManagerArg {
    static std::string Type() { return "Any"; }
    static Manager& Get(PyObject* o, const char* name) { return ValueArg<Manager>(o, name, "a scope"); }
};

template <class Manager>
void Enter(Manager& self) {
    self.Begin();
}
GraphRef EnterGraph(BackpropScopeManager& self) { return self.Begin(); }
template <class Manager>
void Exit(Manager& self, PyObject*, PyObject*, PyObject*) {
    self.End();
}

}  // namespace

template <>
struct Arg<ContextManager> : ManagerArg<ContextManager> {};
template <>
struct Arg<DeviceManager> : ManagerArg<DeviceManager> {};
template <>
struct Arg<NoBackpropManager> : ManagerArg<NoBackpropManager> {};
template <>
struct Arg<ForceBackpropManager> : ManagerArg<ForceBackpropManager> {};
template <>
struct Arg<BackpropScopeManager> : ManagerArg<BackpropScopeManager> {};

namespace {

constexpr const char* kExit = "self, exc_type=None, exc_value=None, traceback=None";
constexpr const char* kExitDoc = "Leaves the scope.";
constexpr const char* kEnterDoc = "Enters the scope.";

}  // namespace

void BindCoreTypes() {
    Function<&GetBackendByName>("get_backend", "backend_name", docs::kGetBackend);
    Function<&GetDeviceFrom>("get_device", "device=None, index=None", docs::kGetDevice);
    Function<&GetDefaultContext>("get_default_context", "", docs::kGetDefaultContext);
    Function<&PySetDefaultContext>("set_default_context", "context", docs::kSetDefaultContext);
    Function<&GetGlobalDefaultContext>("get_global_default_context", "", docs::kGetGlobalDefaultContext);
    Function<&PySetGlobalDefaultContext>("set_global_default_context", "context", docs::kSetGlobalDefaultContext);
    Function<&GetDefaultDevice>("get_default_device", "", docs::kGetDefaultDevice);
    Function<&PySetDefaultDevice>("set_default_device", "device", docs::kSetDefaultDevice);
    Function<&PyIsBackpropRequired>("is_backprop_required", "context=None", docs::kIsBackpropRequired);
}

void AddCoreTypes(PyObject* module) {
    Class<ContextRef>{"Context", docs::kContext}
            .Init<&NewContext>("")
            .Method<&GetBackend>("get_backend", "self, backend_name", docs::kContextGetBackend)
            .Method<&GetDevice>("get_device", "self, device_name|backend_name, index=None", docs::kContextGetDevice)
            .Method<&MakeBackpropId>("make_backprop_id", "self, backprop_name", docs::kMakeBackpropId)
            .Method<&ReleaseBackpropId>("release_backprop_id", "self, backprop_id", docs::kReleaseBackpropId)
            .Method<&CheckValidBackpropId>("_check_valid_backprop_id", "self, backprop_id", "Raises if it is not.")
            .Add(module);
    Class<BackendRef>{"Backend", docs::kBackend}
            .Property<&GetBackendName>("name", "Name, such as ``'native'``.")
            .Property<&GetBackendContext>("context", "The :class:`~chainerx.Context`.")
            .Method<&GetBackendDevice>("get_device", "self, index", docs::kBackendGetDevice)
            .Method<&GetBackendDeviceCount>("get_device_count", "self", docs::kBackendGetDeviceCount)
            .Add(module);
    Class<DeviceRef>{"Device", docs::kDevice}
            .Property<&GetDeviceName>("name", "Name, such as ``'native:0'``.")
            .Property<&GetDeviceBackend>("backend", "The :class:`~chainerx.Backend`.")
            .Property<&GetDeviceContext>("context", "The :class:`~chainerx.Context`.")
            .Property<&GetDeviceIndex>("index", "Number of the device in its backend.")
            .Property<&GetDeviceStream>("current_stream", docs::kCurrentStream)
            .Method<&Synchronize>("synchronize", "self", docs::kSynchronize)
            .Method<&GetMemoryStatistics>("memory_statistics", "self", docs::kMemoryStatistics)
            .Method<&ResetMemoryPeaks>("reset_memory_peaks", "self", docs::kResetMemoryPeaks)
            .Method<&SetMemoryLimit>("set_memory_limit", "self, size=None", docs::kSetMemoryLimit)
            .Method<&FreeUnusedBlocks>("free_unused_blocks", "self", docs::kFreeUnusedBlocks)
            .Method<&ReduceDevice>("__reduce__", "self", "For pickling: the name.")
            .Text<&DeviceText>()
            .Identity<&IsSameDevice, &HashDevice>()
            .Add(module);
    Class<GraphRef>{"BackpropId", docs::kBackpropId}
            .Property<&GetGraphName>("name", "Name of the graph.")
            .Property<&GetGraphContext>("context", "The :class:`~chainerx.Context`.")
            .Text<&GraphText>()
            .Identity<&IsSameGraph, &HashGraph>()
            .Add(module);
    Class<AnyGraph>{"AnyGraph", docs::kAnyGraph}.Add(module);
    if (PyModule_AddObjectRef(module, "anygraph", MakeObject(AnyGraph{}).get()) < 0) throw PythonError{};

    Class<ContextManager>{"ContextScope", docs::kContextScope}
            .Init<&NewContextScope>("context")
            .Method<&Enter<ContextManager>>("__enter__", "self", kEnterDoc)
            .Method<&Exit<ContextManager>>("__exit__", kExit, kExitDoc)
            .Add(module);
    Class<DeviceManager>{"DeviceScope", docs::kDeviceScope}
            .Init<&NewDeviceScope>("device, index=None")
            .Property<&GetScopeDevice>("device", "The :class:`~chainerx.Device`.")
            .Method<&EnterDevice>("__enter__", "self", kEnterDoc)
            .Method<&Exit<DeviceManager>>("__exit__", kExit, kExitDoc)
            .Add(module);
    Class<NoBackpropManager>{"NoBackpropMode", docs::kNoBackpropMode}
            .Init<&NewMode<NoBackpropManager, false>>("backprop_ids=None")
            .Method<&Enter<NoBackpropManager>>("__enter__", "self", kEnterDoc)
            .Method<&Exit<NoBackpropManager>>("__exit__", kExit, kExitDoc)
            .Add(module);
    Class<ForceBackpropManager>{"ForceBackpropMode", docs::kForceBackpropMode}
            .Init<&NewMode<ForceBackpropManager, true>>("backprop_ids=None")
            .Method<&Enter<ForceBackpropManager>>("__enter__", "self", kEnterDoc)
            .Method<&Exit<ForceBackpropManager>>("__exit__", kExit, kExitDoc)
            .Add(module);
    Class<BackpropScopeManager>{"BackpropScope", docs::kBackpropScope}
            .Init<&NewBackpropScope>("backprop_name, context=None")
            .Method<&EnterGraph>("__enter__", "self", kEnterDoc)
            .Method<&Exit<BackpropScopeManager>>("__exit__", kExit, kExitDoc)
            .Add(module);
    const std::pair<const char*, const char*> aliases[] = {{"context_scope", "ContextScope"},
                                                           {"using_device", "DeviceScope"},
                                                           {"no_backprop_mode", "NoBackpropMode"},
                                                           {"force_backprop_mode", "ForceBackpropMode"},
                                                           {"backprop_scope", "BackpropScope"}};
    for (const auto& [alias, name] : aliases) {
        PyRef type = Check(PyObject_GetAttrString(module, name));
        if (PyModule_AddObjectRef(module, alias, type.get()) < 0) throw PythonError{};
    }
}

}  // namespace chainerx::python
