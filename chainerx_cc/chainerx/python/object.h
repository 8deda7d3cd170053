#pragma once

#include <Python.h>

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/python/bind.h"
#include "chainerx/python/common.h"
#include "chainerx/python/doc.h"

namespace chainerx::python {

// A Python object around a C++ value. It has none before __init__ has run, which pickle, copy and derived classes may
// leave out.
struct ObjectHead {
    PyObject_HEAD PyObject* weakrefs;
};
template <class T>
struct Object : ObjectHead {
    std::optional<T> value;
};

template <class T>
inline PyTypeObject* g_type = nullptr;

// Called when an object gets its value, and first of all when it ends: for values that find their object again.
template <class T>
void Remember(const T&, PyObject*) {}
template <class T>
void Forget(const T&, PyObject*) {}

template <class T>
bool Is(PyObject* o) {
    return PyObject_TypeCheck(o, g_type<T>);
}

// The value of an object of the type or of a derived one.
template <class T>
T& ValueOf(PyObject* o) {
    std::optional<T>& value = reinterpret_cast<Object<T>*>(o)->value;
    if (CHAINERX_UNLIKELY(!value.has_value())) {
        ThrowTypeError("the %s has not been initialized: its class's __init__ was not called", Py_TYPE(o)->tp_name);
    }
    return *value;
}

template <class T>
T& ValueArg(PyObject* o, const char* name, const char* type) {
    if (!Is<T>(o)) ThrowTypeError("%s must be %s, not %s", name, type, Py_TYPE(o)->tp_name);
    return ValueOf<T>(o);
}

template <class T>
PyRef MakeObject(PyTypeObject* type) {
    PyRef self = Check(type->tp_alloc(type, 0));
    auto* o = reinterpret_cast<Object<T>*>(self.get());
    new (&o->value) std::optional<T>{};
    o->weakrefs = nullptr;
    return self;
}
template <class T>
void SetValue(PyObject* self, T value) {
    std::optional<T>& present = reinterpret_cast<Object<T>*>(self)->value;
    // Other threads or callers may use the present one.
    if (present.has_value()) ThrowTypeError("the %s has been initialized already", Py_TYPE(self)->tp_name);
    present.emplace(std::move(value));
    Remember(*present, self);
}
template <class T>
PyRef MakeObject(T value) {
    PyRef self = MakeObject<T>(g_type<T>);
    SetValue(self.get(), std::move(value));
    return self;
}

// The arguments of a call in the form of a fast call.
class FastArguments {
public:
    FastArguments(PyObject* args, PyObject* kwargs);
    PyObject* const* values() const { return values_.data(); }
    Py_ssize_t positional_count() const { return positional_count_; }
    PyObject* names() const { return names_.get(); }

private:
    std::vector<PyRef> kept_;
    std::vector<PyObject*> values_;
    Py_ssize_t positional_count_;
    PyRef names_;
};

// The parts of a type that do not depend on the C++ type.
class TypeParts {
public:
    TypeParts(const char* name, const char* doc);
    void AddSlot(int id, void* function) { slots_.push_back({id, function}); }
    void AddMethod(const Binding& binding, const char* name, const char* signature, const char* doc);
    void AddProperty(const Binding& binding, const char* name, getter get, const char* doc);
    void Register(const char* name, const char* signature, std::vector<std::string> (*types)());
    void SetSignature(const std::string& signature) { signature_ = name_ + ("(" + signature + ")\n--\n\n"); }
    const char* name() const { return name_; }
    // Makes the type and adds it to the module.
    PyTypeObject* Make(PyObject* module, size_t object_size);

private:
    const char* name_;
    const char* doc_;
    std::string signature_;  // in the form in which Python reads it
    std::vector<PyType_Slot> slots_;
    // Kept as long as the process.
    std::vector<PyMethodDef>* methods_;
    std::vector<PyGetSetDef>* properties_;
};

// Makes a Python type of objects around a T.
template <class T>
class Class {
public:
    Class(const char* name, const char* doc) : parts_{name, doc} {
        AddSlot(Py_tp_new, &Refuse);
        AddSlot(Py_tp_dealloc, &Dealloc);
    }

    // Makes the type callable; `Fn` returns the value of a new object.
    template <auto Fn>
    Class& Init(const char* signature) {
        using B = Bound<Fn>;
        B::signature = Signature{parts_.name(), signature, B::kArity};
        parts_.SetSignature(B::signature.text());
        AddSlot(Py_tp_new, &New);
        AddSlot(Py_tp_init, &Initialize<Fn>);
        parts_.Register("__init__", signature, [] {
            std::vector<std::string> types = B::ArgTypes();
            types.push_back("None");
            return types;
        });
        return *this;
    }
    template <auto Fn>
    Class& Method(const char* name, const char* signature, const char* doc) {
        parts_.AddMethod(BindingOf<Fn>(), name, signature, doc);
        return *this;
    }
    template <auto Fn>
    Class& Property(const char* name, const char* doc) {
        using B = Bound<Fn>;
        getter get = [](PyObject* self, void*) { return B::CallMethod(self, nullptr, 0, nullptr); };
        parts_.AddProperty(BindingOf<Fn>(), name, get, doc);
        return *this;
    }
    // Calls of objects.
    template <auto Fn>
    Class& Callable() {
        AddSlot(Py_tp_call, Fn);
        return *this;
    }
    // str() and repr()
    template <auto Fn>
    Class& Text() {
        AddSlot(Py_tp_repr, &Unary<Fn>);
        return *this;
    }
    // A function of two values, and a hash.
    template <auto Equal, auto Hash>
    Class& Identity() {
        AddSlot(Py_tp_richcompare, &Compare<Equal>);
        AddSlot(Py_tp_hash, &HashOf<Hash>);
        return *this;
    }
    void Add(PyObject* module) { g_type<T> = parts_.Make(module, sizeof(Object<T>)); }

private:
    template <class F>
    void AddSlot(int id, F* function) {
        parts_.AddSlot(id, reinterpret_cast<void*>(function));
    }
    static PyObject* Refuse(PyTypeObject* type, PyObject*, PyObject*) {
        PyErr_Format(g_type_error, "objects of %s cannot be made by calling the class", type->tp_name);
        return nullptr;
    }
    static PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
        return Guard([&] { return MakeObject<T>(type).release(); });
    }
    template <auto Fn>
    static int Initialize(PyObject* self, PyObject* args, PyObject* kwargs) {
        return Guard(
                -1,
                [&] {
                    FastArguments fast{args, kwargs};
                    SetValue<T>(self, Bound<Fn>::CallForValue(fast.values(), fast.positional_count(), fast.names()));
                    return 0;
                },
                Bound<Fn>::signature.name());
    }
    static void Dealloc(PyObject* self) {
        auto* o = reinterpret_cast<Object<T>*>(self);
        PyTypeObject* type = Py_TYPE(self);
        if (o->value.has_value()) Forget(*o->value, self);
        if (o->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
        o->value.~optional();
        type->tp_free(self);
        Py_DECREF(type);
    }
    template <auto Fn>
    static PyObject* Unary(PyObject* self) {
        return Guard([&] { return ToPython(Fn(ValueOf<T>(self))); });
    }
    template <auto Equal>
    static PyObject* Compare(PyObject* a, PyObject* b, int op) {
        return Guard([&]() -> PyObject* {
            const T& value = ValueOf<T>(a);
            if ((op != Py_EQ && op != Py_NE) || !Is<T>(b)) Py_RETURN_NOTIMPLEMENTED;
            return ToPython(Equal(value, ValueOf<T>(b)) == (op == Py_EQ));
        });
    }
    template <auto Hash>
    static Py_hash_t HashOf(PyObject* self) {
        return Guard(Py_hash_t{-1}, [&] {
            Py_hash_t hash = Hash(ValueOf<T>(self));
            return hash == -1 ? -2 : hash;
        });
    }

    TypeParts parts_;
};

}  // namespace chainerx::python
