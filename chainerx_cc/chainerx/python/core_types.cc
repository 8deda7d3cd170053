#include "chainerx/python/core_types.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backprop_mode.h"
#include "chainerx/core/context.h"
#include "chainerx/python/autograd.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/doc.h"
#include "chainerx/python/docs/autograd.h"

namespace py = pybind11;
using namespace py::literals;  // NOLINT

namespace chainerx::python {
namespace {

constexpr auto kReference = py::return_value_policy::reference;

// Arrays and devices refer to their context without owning it, so its memory is never given back.
struct ContextCloser {
    void operator()(Context* context) const noexcept { context->Close(); }
};

// A context that was a default one stays open: threads know it by its address only.
Context* KeepOpen(Context* context) {
    if (context != nullptr) py::cast(context, kReference).release();
    return context;
}

// Makes C.__new__(C) an error: methods of an object that __init__ never saw would read memory that was never set.
// C() and classes derived in Python are left as they are.
void ForbidBareNew(const py::handle& type) {
    auto* t = reinterpret_cast<PyTypeObject*>(type.ptr());
    py::object base_new = py::handle{reinterpret_cast<PyObject*>(t->tp_base)}.attr("__new__");
    py::object guard =
            py::staticmethod{py::cpp_function{[t, base_new](const py::handle& cls, const py::args&, const py::kwargs&) {
                if (cls.ptr() == reinterpret_cast<PyObject*>(t)) {
                    ThrowTypeError("%s.__new__ makes no sound object; call the class", t->tp_name);
                }
                return base_new(cls);
            }}};
    // Not by setattr, which would put it into the slot that the class itself is called by.
    if (PyDict_SetItemString(t->tp_dict, "__new__", guard.ptr()) < 0) throw py::error_already_set{};
    PyType_Modified(t);
}

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

using ContextManager = ScopeManager<ContextScope, Context*>;
using DeviceManager = ScopeManager<DeviceScope, Device*>;

struct ModeArgs {
    Context* context;
    std::vector<BackpropId> ids;
};
struct NoBackpropManager : ScopeManager<BackpropModeScope, ModeArgs> {
    using ScopeManager::ScopeManager;
};
struct ForceBackpropManager : ScopeManager<BackpropModeScope, ModeArgs> {
    using ScopeManager::ScopeManager;
};

template <bool kEnabled>
std::unique_ptr<BackpropModeScope> EnterMode(const ModeArgs& args) {
    if (!args.ids.empty()) return std::make_unique<BackpropModeScope>(args.ids, kEnabled);
    return std::make_unique<BackpropModeScope>(args.context != nullptr ? *args.context : GetDefaultContext(), kEnabled);
}

// No argument, a context, a backprop id, or a list of backprop ids.
ModeArgs GetModeArgs(const py::object& what) {
    if (what.is_none()) return {nullptr, {}};
    if (py::isinstance<Context>(what)) return {what.cast<Context*>(), {}};
    if (py::isinstance<BackpropId>(what)) return {nullptr, {what.cast<BackpropId>()}};
    std::vector<BackpropId> ids = Arg<std::vector<BackpropId>>::Get(what.ptr(), "backprop_ids");
    return {nullptr, ids};
}

class BackpropScopeManager {
public:
    BackpropScopeManager(std::string name, Context* context) : name_{std::move(name)}, context_{context} {}
    BackpropId Begin() {
        if (id_.has_value()) throw ChainerxError{"the scope has been entered already"};
        Context& context = context_ != nullptr ? *context_ : GetDefaultContext();
        id_ = context.MakeBackpropId(name_);
        return *id_;
    }
    void End() {
        if (!id_.has_value()) return;
        BackpropId id = *id_;
        id_.reset();
        id.context().ReleaseBackpropId(id);
    }

private:
    std::string name_;
    Context* context_;
    std::optional<BackpropId> id_;
};

template <class Manager>
py::class_<Manager> BindScope(py::module_& m, const char* name, const char* doc) {
    py::class_<Manager> c{m, name, KeepDoc(doc)};
    c.def("__exit__", [](Manager& self, const py::args&) { self.End(); });
    return c;
}

Context& OrDefault(const py::object& context) {
    if (context.is_none()) return GetDefaultContext();
    if (!py::isinstance<Context>(context)) {
        ThrowTypeError("context must be chainerx.Context, BackpropId or None, not %s", Py_TYPE(context.ptr())->tp_name);
    }
    return context.cast<Context&>();
}

// A device, or the names of one or of a backend and an index.
Device& GetDeviceFrom(const py::object& device, const py::object& index) {
    if (index.is_none()) return GetDeviceArg(device.ptr());
    return GetDefaultContext()
            .GetBackend(Arg<std::string>::Get(device.ptr(), "device"))
            .GetDevice(static_cast<int>(GetIntArg(index.ptr(), "index")));
}

bool PyIsBackpropRequired(const py::object& what) {
    if (py::isinstance<BackpropId>(what)) return IsBackpropRequired(what.cast<BackpropId>());
    return IsBackpropRequired(OrDefault(what));
}

}  // namespace

void InitCoreTypes(py::module_& m) {
    py::class_<Context, std::unique_ptr<Context, ContextCloser>>(m, "Context", KeepDoc(docs::kContext))
            .def(py::init<>())
            .def("get_backend", &Context::GetBackend, "backend_name"_a, kReference, KeepDoc(docs::kContextGetBackend))
            .def("get_device", &Context::GetDevice, "device_name"_a, kReference, KeepDoc(docs::kContextGetDevice))
            .def(
                    "get_device",
                    [](Context& c, const std::string& backend, int index) -> Device& {
                        return c.GetBackend(backend).GetDevice(index);
                    },
                    "backend_name"_a, "index"_a, kReference)
            .def("make_backprop_id", &Context::MakeBackpropId, "backprop_name"_a, py::keep_alive<0, 1>(),
                 KeepDoc(docs::kMakeBackpropId))
            .def("release_backprop_id", &Context::ReleaseBackpropId, "backprop_id"_a, KeepDoc(docs::kReleaseBackpropId))
            .def("_check_valid_backprop_id", &Context::CheckValidBackpropId, "backprop_id"_a);
    py::class_<Backend, std::unique_ptr<Backend, py::nodelete>>(m, "Backend", KeepDoc(docs::kBackend))
            .def_property_readonly("name", &Backend::name, "Name, such as ``'native'``.")
            .def_property_readonly("context", &Backend::context, kReference, "The :class:`~chainerx.Context`.")
            .def("get_device", &Backend::GetDevice, "index"_a, kReference, KeepDoc(docs::kBackendGetDevice))
            .def("get_device_count", &Backend::GetDeviceCount, KeepDoc(docs::kBackendGetDeviceCount));
    py::class_<Device, std::unique_ptr<Device, py::nodelete>>(m, "Device", KeepDoc(docs::kDevice))
            .def_property_readonly("name", &Device::name, "Name, such as ``'native:0'``.")
            .def_property_readonly("backend", &Device::backend, kReference, "The :class:`~chainerx.Backend`.")
            .def_property_readonly("context", &Device::context, kReference, "The :class:`~chainerx.Context`.")
            .def_property_readonly("index", &Device::index, "Number of the device in its backend.")
            .def(
                    "synchronize", [](Device& d) { d.Synchronize(); }, KeepDoc(docs::kSynchronize))
            .def("__repr__", [](const Device& d) { return d.name(); })
            .def("__str__", [](const Device& d) { return d.name(); })
            .def("__eq__", [](const Device& d,
                              const py::object& o) { return py::isinstance<Device>(o) && o.cast<Device*>() == &d; })
            .def("__hash__", [](const Device& d) { return reinterpret_cast<intptr_t>(&d) >> 4; })
            .def("__reduce__", [](const Device& d) {
                return py::make_tuple(py::module_::import("chainerx").attr("get_device"), py::make_tuple(d.name()));
            });
    py::class_<BackpropId>(m, "BackpropId", KeepDoc(docs::kBackpropId))
            .def_property_readonly("name", &BackpropId::GetName, "Name of the graph.")
            .def_property_readonly("context", &BackpropId::context, kReference, "The :class:`~chainerx.Context`.")
            .def("__eq__",
                 [](const BackpropId& a, const py::object& b) {
                     return py::isinstance<BackpropId>(b) && a == b.cast<BackpropId>();
                 })
            .def("__hash__", [](const BackpropId& a) { return static_cast<intptr_t>(a.birth() * 64 + a.slot()); })
            .def("__repr__", [](const BackpropId& a) { return "<BackpropId '" + a.GetName() + "'>"; });
    py::class_<AnyGraph>(m, "AnyGraph", KeepDoc(docs::kAnyGraph));
    m.attr("anygraph") = AnyGraph{};

    m.def(
            "get_backend", [](const std::string& name) -> Backend& { return GetDefaultContext().GetBackend(name); },
            "backend_name"_a, kReference, KeepDoc(docs::kGetBackend));
    m.def("get_device", &GetDeviceFrom, "device"_a = py::none(), "index"_a = py::none(), kReference,
          KeepDoc(docs::kGetDevice));
    m.def("get_default_context", &GetDefaultContext, kReference, KeepDoc(docs::kGetDefaultContext));
    m.def(
            "set_default_context", [](Context* c) { SetDefaultContext(KeepOpen(c)); }, "context"_a,
            KeepDoc(docs::kSetDefaultContext));
    m.def("get_global_default_context", &GetGlobalDefaultContext, kReference, KeepDoc(docs::kGetGlobalDefaultContext));
    m.def(
            "set_global_default_context", [](Context* c) { SetGlobalDefaultContext(KeepOpen(c)); }, "context"_a,
            KeepDoc(docs::kSetGlobalDefaultContext));
    m.def("get_default_device", &GetDefaultDevice, kReference, KeepDoc(docs::kGetDefaultDevice));
    m.def(
            "set_default_device", [](const py::object& device) { SetDefaultDevice(&GetDeviceArg(device.ptr())); },
            "device"_a, KeepDoc(docs::kSetDefaultDevice));

    BindScope<ContextManager>(m, "ContextScope", docs::kContextScope)
            .def(py::init([](Context* c) {
                     return ContextManager{c, [](Context* const& x) { return std::make_unique<ContextScope>(*x); }};
                 }),
                 "context"_a, py::keep_alive<1, 2>())
            .def("__enter__", [](ContextManager& self) { self.Begin(); });
    BindScope<DeviceManager>(m, "DeviceScope", docs::kDeviceScope)
            .def(py::init([](const py::object& device, const py::object& index) {
                     if (device.is_none()) ThrowTypeError("device must be chainerx.Device or str, not None");
                     return DeviceManager{&GetDeviceFrom(device, index),
                                          [](Device* const& d) { return std::make_unique<DeviceScope>(*d); }};
                 }),
                 "device"_a, "index"_a = py::none())
            .def_property_readonly("device", &DeviceManager::holder, kReference, "The :class:`~chainerx.Device`.")
            .def("__enter__", [](py::object self) {
                self.cast<DeviceManager&>().Begin();
                return self;
            });
    BindScope<NoBackpropManager>(m, "NoBackpropMode", docs::kNoBackpropMode)
            .def(py::init([](const py::object& what) {
                     return NoBackpropManager{GetModeArgs(what), &EnterMode<false>};
                 }),
                 "backprop_ids"_a = py::none())
            .def("__enter__", [](NoBackpropManager& self) { self.Begin(); });
    BindScope<ForceBackpropManager>(m, "ForceBackpropMode", docs::kForceBackpropMode)
            .def(py::init([](const py::object& what) {
                     return ForceBackpropManager{GetModeArgs(what), &EnterMode<true>};
                 }),
                 "backprop_ids"_a = py::none())
            .def("__enter__", [](ForceBackpropManager& self) { self.Begin(); });
    BindScope<BackpropScopeManager>(m, "BackpropScope", docs::kBackpropScope)
            .def(py::init<std::string, Context*>(), "backprop_name"_a, "context"_a = nullptr)
            .def("__enter__", &BackpropScopeManager::Begin);
    m.attr("context_scope") = m.attr("ContextScope");
    m.attr("using_device") = m.attr("DeviceScope");
    m.attr("no_backprop_mode") = m.attr("NoBackpropMode");
    m.attr("force_backprop_mode") = m.attr("ForceBackpropMode");
    m.attr("backprop_scope") = m.attr("BackpropScope");
    m.def("is_backprop_required", &PyIsBackpropRequired, "context"_a = py::none(), KeepDoc(docs::kIsBackpropRequired));
    for (const char* name : {"Context", "Backend", "Device", "BackpropId", "ContextScope", "DeviceScope",
                             "NoBackpropMode", "ForceBackpropMode", "BackpropScope"}) {
        ForbidBareNew(m.attr(name));
    }
}

}  // namespace chainerx::python
