#pragma once

#include <Python.h>

#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/ops/routine.h"
#include "chainerx/python/common.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

// A Python signature such as "a, axis=None, keepdims=False", parsed once. "x|a" is an argument x that may also be
// given as the keyword a; "*xs" alone takes any number of arguments.
class Signature {
public:
    static constexpr int kMaxArgs = 12;

    Signature();
    // For a function with `arity` parameters; raises if the text has others.
    Signature(const char* name, const char* text, int arity);
    // Not in each binding's code
    ~Signature();
    Signature& operator=(Signature&& o) noexcept;

    // Assigns the arguments of a fast call to the parameters. `self`, if not null, is the first argument.
    void Parse(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** out) const;
    // A tuple of the arguments of a variadic function.
    PyRef Pack(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) const;

    const char* name() const { return name_; }
    const char* arg_name(int i) const { return names_[i].c_str(); }
    int size() const { return static_cast<int>(names_.size()); }
    bool is_variadic() const { return text_[0] == '*'; }
    // The signature without alternative names, for documentation.
    const std::string& text() const { return text_; }

private:
    void PlaceKeywords(PyObject* const* args, PyObject* kwnames, PyObject** out) const;
    int Find(PyObject* key) const;  // size() if there is no such argument

    const char* name_{nullptr};
    std::vector<std::string> names_;
    std::vector<PyObject*> interned_;
    std::vector<PyObject*> defaults_;  // null for a required argument
    std::vector<std::pair<PyObject*, int>> spellings_;
    std::string text_;
};

// A bound function without its type: what registers one is compiled once.
struct Binding {
    Signature& signature;
    int arity;
    std::vector<std::string> (*types)();
    FastCall function;
    FastCall method;
    FastCall variadic;  // for a signature "*xs"; null if the parameters cannot be so
};

using TypeText = std::string (*)();
std::vector<std::string> TextsOf(const TypeText* types, int n);

// Wraps a C++ function as a Python function or method. The C++ types decide how arguments are converted.
template <auto Fn, class Type = decltype(Fn)>
class Bound;

template <auto Fn, class R, class... A>
class Bound<Fn, R (*)(A...)> {
public:
    static inline Signature signature;
    static constexpr int kArity = sizeof...(A);

    static PyObject* CallFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return Call(nullptr, args, nargs, kwnames);
    }
    static PyObject* CallMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return Call(self, args, nargs, kwnames);
    }

    // Whether the signature may be "*xs": the only parameter takes all arguments.
    static constexpr bool kTakesList = std::is_same_v<std::tuple<std::decay_t<A>...>, std::tuple<std::vector<Array>>>;
    static PyObject* CallVariadic(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        return GuardFunction(signature.name(), [&]() -> PyObject* {
            PyRef all = signature.Pack(args, nargs, kwnames);
            PyObject* argv[] = {all.get()};
            return Invoke(argv, std::index_sequence_for<A...>{});
        });
    }

    // The result as a C++ value.
    static R CallForValue(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
        PyObject* argv[Signature::kMaxArgs];
        signature.Parse(nullptr, args, nargs, kwnames, argv);
        return Apply(argv, std::index_sequence_for<A...>{});
    }

    // The types of the parameters and the result for type stubs.
    static std::vector<std::string> ArgTypes() {
        static constexpr TypeText kTypes[] = {&Arg<std::decay_t<A>>::Type..., nullptr};
        return TextsOf(kTypes, kArity);
    }
    static std::vector<std::string> Types() {
        static constexpr TypeText kTypes[] = {&Arg<std::decay_t<A>>::Type..., &ResultType<std::decay_t<R>>::Text};
        return TextsOf(kTypes, kArity + 1);
    }

    static Binding MakeBinding() {
        FastCall variadic = nullptr;
        if constexpr (kTakesList) variadic = &CallVariadic;
        return {signature, kArity, &Types, &CallFunction, &CallMethod, variadic};
    }

private:
    // One copy for functions and methods.
    __attribute__((noinline)) static PyObject* Call(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                                                    PyObject* kwnames) {
        return GuardFunction(signature.name(), [&]() -> PyObject* {
            PyObject* argv[Signature::kMaxArgs];
            signature.Parse(self, args, nargs, kwnames, argv);
            return Invoke(argv, std::index_sequence_for<A...>{});
        });
    }

    template <size_t... I>
    static R Apply([[maybe_unused]] PyObject** argv, std::index_sequence<I...>) {
        return Fn(Arg<std::decay_t<A>>::Get(argv[I], signature.arg_name(I))...);
    }

    template <size_t... I>
    static PyObject* Invoke(PyObject** argv, std::index_sequence<I...> indexes) {
        if constexpr (std::is_void_v<R>) {
            Apply(argv, indexes);
            Py_RETURN_NONE;
        } else {
            return ToPython(Apply(argv, indexes));
        }
    }
};

template <auto Fn>
Binding BindingOf() {
    return Bound<Fn>::MakeBinding();
}

// The metadata of a function or method.
struct FunctionInfo {
    const char* owner;   // the class, or null for a function of the module
    const char* family;  // null if the function is not an op
    Routine routine;     // without documentation after Python has it
    std::vector<std::string> (*types)();
};

// The definition of a function or method with its documentation.
PyMethodDef MakeDef(const char* name, FastCall function, const std::string& signature, const std::string& text);
// The signature of a method, from one that starts with "self".
std::string MethodSignature(const char* signature);

// All bound functions, in the order of registration.
std::vector<FunctionInfo>& Functions();
std::vector<PyMethodDef>& FunctionDefs();
// Of a submodule, by its name.
std::map<std::string, std::vector<PyMethodDef>>& SubmoduleDefs();
std::vector<PyMethodDef>& MethodDefs();

// Registers a function, a method or both; either may be null.
void AddFunction(const FunctionInfo& info, FastCall function, FastCall method);
void AddRoutine(const Binding& binding, const char* family, Routine routine);
void AddPureMethod(const Binding& binding, const Routine& routine);

template <auto Fn>
void Bind(const char* family, const Routine& routine) {
    AddRoutine(BindingOf<Fn>(), family, routine);
}

// A function that is not an op.
template <auto Fn>
void Function(const char* name, const char* signature, const char* doc) {
    Bind<Fn>(nullptr, {name, signature, "", doc, false});
}

// A method of ndarray that is not a function of the module; the signature starts with "self".
template <auto Fn>
void Method(const char* name, const char* signature, const char* doc) {
    AddPureMethod(BindingOf<Fn>(), {name, signature, "", doc, true});
}

void BindOps();                            // from the families' lists
void BindConversions(const char* family);  // of Python objects to arrays
void BindAutograd();
void BindFunctionNode();
void BindNumpyViews();
void BindMeans();
void BindInterop();
void BindDlpack();

}  // namespace chainerx::python
