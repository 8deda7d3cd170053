#pragma once

#include <Python.h>

#include <utility>

#include "chainerx/core/backprop_id.h"
#include "chainerx/core/context.h"
#include "chainerx/python/common.h"

// The Python types of contexts, backends, devices and backprop ids.
namespace chainerx::python {

// The value of an object that stands for a C++ object: there is at most one such object at a time.
template <class T>
struct Ref {
    T* target;
    ContextPtr context;
};
using BackendRef = Ref<Backend>;
using DeviceRef = Ref<Device>;

// A context object made by Python closes its context when it ends.
class ContextRef {
public:
    explicit ContextRef(ContextPtr made) : target{made.get()}, context_{std::move(made)}, closes_{true} {}
    explicit ContextRef(Context& existing) : target{&existing}, context_{Context::Share(&existing)} {}
    ContextRef(ContextRef&& o) noexcept
        : target{o.target}, context_{std::move(o.context_)}, closes_{std::exchange(o.closes_, false)} {}
    ContextRef& operator=(ContextRef&&) = delete;
    ~ContextRef() {
        if (closes_) target->Close();
    }

    Context* target;

private:
    ContextPtr context_;
    bool closes_{false};
};

// Keeps its context object, whose end would release the graph.
struct GraphRef {
    BackpropId id;
    PyRef context;
};

void Remember(const ContextRef& ref, PyObject* self);
void Remember(const BackendRef& ref, PyObject* self);
void Remember(const DeviceRef& ref, PyObject* self);
void Forget(const ContextRef& ref, PyObject* self);
void Forget(const BackendRef& ref, PyObject* self);
void Forget(const DeviceRef& ref, PyObject* self);

PyObject* ToPython(GraphRef id);

// Functions of contexts, backends, devices, backprop ids and scopes; and their types.
void BindCoreTypes();
void AddCoreTypes(PyObject* module);
void AddSubgraph(PyObject* module);

}  // namespace chainerx::python
