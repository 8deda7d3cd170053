#pragma once

#include <Python.h>

#include <exception>
#include <string>
#include <utility>

namespace chainerx::python {

// Thrown when a Python exception is set.
class PythonError : public std::exception {};

// An owned reference to a Python object.
class PyRef {
public:
    PyRef() = default;
    explicit PyRef(PyObject* stolen) : p_{stolen} {}
    static PyRef Borrow(PyObject* p) {
        Py_XINCREF(p);
        return PyRef{p};
    }
    PyRef(const PyRef& o) : p_{o.p_} { Py_XINCREF(p_); }
    PyRef(PyRef&& o) noexcept : p_{std::exchange(o.p_, nullptr)} {}
    PyRef& operator=(PyRef o) noexcept {
        std::swap(p_, o.p_);
        return *this;
    }
    ~PyRef() { Py_XDECREF(p_); }
    PyObject* get() const { return p_; }
    PyObject* release() { return std::exchange(p_, nullptr); }
    explicit operator bool() const { return p_ != nullptr; }

private:
    PyObject* p_{nullptr};
};

// Wraps the result of a call that returns null after setting an exception.
inline PyRef Check(PyObject* p) {
    if (p == nullptr) throw PythonError{};
    return PyRef{p};
}

// chainerx.TypeError and chainerx.ValueError.
extern PyObject* g_type_error;
extern PyObject* g_value_error;

template <class... Args>
[[noreturn]] void ThrowTypeError(const char* format, Args... args) {
    PyErr_Format(g_type_error, format, args...);
    throw PythonError{};
}
template <class... Args>
[[noreturn]] void ThrowValueError(const char* format, Args... args) {
    PyErr_Format(g_value_error, format, args...);
    throw PythonError{};
}

// Sets the Python exception that belongs to the C++ exception being handled. Its text begins with the name of the
// function that failed, if one is given and the text does not have it yet.
void SetPythonError(const char* function = nullptr) noexcept;

// Runs f and returns what it returns; on a C++ exception sets the Python one and returns `failure`.
template <class F, class R>
R Guard(R failure, F&& f, const char* function = nullptr) noexcept {
    try {
        return f();
    } catch (...) {
        SetPythonError(function);
        return failure;
    }
}
template <class F>
PyObject* Guard(F&& f) noexcept {
    return Guard<F, PyObject*>(nullptr, std::forward<F>(f));
}
// For a function of the module, which errors name.
template <class F>
PyObject* GuardFunction(const char* name, F&& f) noexcept {
    return Guard<F, PyObject*>(nullptr, std::forward<F>(f), name);
}

class GilScope {
public:
    GilScope() : state_{PyGILState_Ensure()} {}
    ~GilScope() { PyGILState_Release(state_); }
    GilScope(const GilScope&) = delete;
    GilScope& operator=(const GilScope&) = delete;

private:
    PyGILState_STATE state_;
};

}  // namespace chainerx::python
