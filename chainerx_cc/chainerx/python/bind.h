#pragma once

#include <Python.h>

#include <string>
#include <utility>
#include <vector>

#include "chainerx/python/common.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

// A Python signature such as "a, axis=None, keepdims=False", parsed once. "x|a" is an argument x that may also be
// given as the keyword a.
class Signature {
public:
    static constexpr int kMaxArgs = 12;

    Signature() = default;
    Signature(const char* name, const char* text);

    // Sorts the arguments of a fast call into their places. `self`, if not null, is the first one.
    void Parse(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** out) const;

    const char* name() const { return name_; }
    const char* arg_name(int i) const { return names_[i].c_str(); }
    int size() const { return static_cast<int>(names_.size()); }
    // The signature without the other spellings, for people.
    const std::string& text() const { return text_; }

private:
    void PlaceKeywords(PyObject* const* args, PyObject* kwnames, PyObject** out) const;
    int Find(PyObject* key) const;  // size() if there is no such argument

    const char* name_{nullptr};
    std::vector<std::string> names_;
    std::vector<PyObject*> interned_;
    std::vector<PyObject*> defaults_;  // null where an argument is required
    std::vector<std::pair<PyObject*, int>> spellings_;
    std::string text_;
};

// A C++ function as a Python function or method; arguments are converted by their C++ types.
template <auto Fn, class Type = decltype(Fn)>
class Bound;

template <auto Fn, class R, class... A>
class Bound<Fn, R (*)(A...)> {
public:
    static inline Signature signature;

    static PyObject* CallFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return Call(nullptr, args, nargs, kwnames);
    }
    static PyObject* CallMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return Call(self, args, nargs, kwnames);
    }

private:
    static PyObject* Call(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return GuardFunction(signature.name(), [&]() -> PyObject* {
            PyObject* argv[Signature::kMaxArgs];
            signature.Parse(self, args, nargs, kwnames, argv);
            return Invoke(argv, std::index_sequence_for<A...>{});
        });
    }

    template <size_t... I>
    static PyObject* Invoke([[maybe_unused]] PyObject** argv, std::index_sequence<I...>) {
        if constexpr (std::is_void_v<R>) {
            Fn(Arg<std::decay_t<A>>::Get(argv[I], signature.arg_name(I))...);
            Py_RETURN_NONE;
        } else {
            return ToPython(Fn(Arg<std::decay_t<A>>::Get(argv[I], signature.arg_name(I))...));
        }
    }
};

// What Python can ask about an op.
struct OpInfo {
    const char* family;
    const char* name;  // "linalg.solve" for a function of the submodule linalg
    const char* signature;
    const char* doc;  // see python/doc.h; dropped once Python has it
    bool is_method;
    const char* kernels;  // separated by blanks; none for an op made of others
};

// All bound functions, in the order of registration.
std::vector<OpInfo>& Ops();
std::vector<PyMethodDef>& FunctionDefs();
std::vector<PyMethodDef>& LinalgDefs();
std::vector<PyMethodDef>& MethodDefs();

// Registers a function; `family` is null for what is not an op.
void AddFunction(const OpInfo& info, PyCFunction function, PyCFunction method);

template <auto Fn>
void Bind(OpInfo info) {
    using B = Bound<Fn>;
    B::signature = Signature{info.name, info.signature};
    info.signature = B::signature.text().c_str();
    AddFunction(info, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&B::CallFunction)),
                info.is_method ? reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&B::CallMethod)) : nullptr);
}

// A method of ndarray that is not a function of the module; the signature starts with "self".
template <auto Fn>
void Method(const char* name, const char* signature, const char* doc) {
    Bind<Fn>({nullptr, name, signature, doc, true, ""});
    FunctionDefs().pop_back();
}

void BindOps();  // from the families' lists
void BindCreation();
void BindLinalg();
void BindAutograd();
void BindInterop();
void BindDlpack();

}  // namespace chainerx::python
