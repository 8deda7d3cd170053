#include "chainerx/python/error.h"

#include <pybind11/pybind11.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "chainerx/core/error.h"
#include "chainerx/python/common.h"
#include "chainerx_onnx/error.h"

namespace chainerx::python {

PyObject* g_type_error;
PyObject* g_value_error;

namespace {

PyObject* g_chainerx_error;
PyObject* g_context_error;
PyObject* g_backend_error;
PyObject* g_device_error;
PyObject* g_dimension_error;
PyObject* g_dtype_error;
PyObject* g_not_implemented_error;
PyObject* g_gradient_error;
PyObject* g_gradient_check_error;
PyObject* g_index_error;
PyObject* g_model_error;

// A class derived from a built-in one, too, so that `except IndexError` works.
PyObject* Make(PyObject* module, const char* name, PyObject* base, PyObject* builtin, const char* doc) {
    PyRef bases = Check(builtin == nullptr ? PyTuple_Pack(1, base) : PyTuple_Pack(2, base, builtin));
    std::string full = std::string{"chainerx."} + name;
    PyObject* type = Check(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.get(), nullptr)).release();
    if (PyModule_AddObjectRef(module, name, type) < 0) throw PythonError{};
    return type;
}

void SetError(PyObject* type, const char* function, const char* text) {
    const char* dot = function == nullptr ? nullptr : std::strchr(function, '.');
    const char* name = dot == nullptr ? function : dot + 1;
    if (name == nullptr || std::strstr(text, name) != nullptr) {
        PyErr_SetString(type, text);
    } else {
        PyErr_Format(type, "%s: %s", name, text);
    }
}

}  // namespace

void InitErrors(PyObject* m) {
    g_chainerx_error = Make(m, "ChainerxError", PyExc_Exception, nullptr, "Base of all errors raised by ChainerX.");
    PyObject* base = g_chainerx_error;
    g_context_error = Make(m, "ContextError", base, nullptr, "Misuse of contexts.");
    g_backend_error = Make(m, "BackendError", base, nullptr, "Unknown backend.");
    g_device_error = Make(m, "DeviceError", base, nullptr, "Unknown device, or arrays on different devices.");
    g_dimension_error = Make(m, "DimensionError", base, PyExc_ValueError, "Shapes or axes that do not fit.");
    g_dtype_error = Make(m, "DtypeError", base, PyExc_TypeError, "A dtype that is unknown or not supported.");
    g_not_implemented_error =
            Make(m, "NotImplementedError", base, PyExc_NotImplementedError, "Something a backend does not have.");
    g_gradient_error = Make(m, "GradientError", base, nullptr, "Misuse of gradients and graphs.");
    g_gradient_check_error = Make(m, "GradientCheckError", base, nullptr, "A numerical gradient check failed.");
    g_index_error = Make(m, "IndexError", base, PyExc_IndexError, "An index out of range, or of a wrong kind.");
    g_model_error = Make(m, "ModelError", base, PyExc_ValueError, "An ONNX model that is broken or not supported.");
    g_type_error = Make(m, "TypeError", base, PyExc_TypeError, "An argument of a wrong type.");
    g_value_error = Make(m, "ValueError", base, PyExc_ValueError, "An argument of a wrong value.");
}

void SetPythonError(const char* function) noexcept {
    try {
        throw;
    } catch (const PythonError&) {
        // is set
    } catch (pybind11::error_already_set& e) {
        e.restore();
    } catch (const pybind11::builtin_exception& e) {
        e.set_error();
    } catch (const onnx::ModelError& e) {
        SetError(g_model_error, nullptr, e.what());  // names a node
    }
#define CHAINERX_X(Type, object)              \
    catch (const Type& e) {                   \
        SetError(object, function, e.what()); \
    }
    CHAINERX_X(ContextError, g_context_error)
    CHAINERX_X(BackendError, g_backend_error)
    CHAINERX_X(DeviceError, g_device_error)
    CHAINERX_X(DimensionError, g_dimension_error)
    CHAINERX_X(DtypeError, g_dtype_error)
    CHAINERX_X(NotImplementedError, g_not_implemented_error)
    CHAINERX_X(GradientError, g_gradient_error)
    CHAINERX_X(GradientCheckError, g_gradient_check_error)
    CHAINERX_X(IndexError, g_index_error)
    CHAINERX_X(ValueError, g_value_error)
    CHAINERX_X(TypeError, g_type_error)
    CHAINERX_X(ChainerxError, g_chainerx_error)
#undef CHAINERX_X
    catch (const std::bad_alloc& e) {
        // What the standard library throws says nothing about the size.
        bool is_plain = typeid(e) == typeid(std::bad_alloc);
        SetError(PyExc_MemoryError, function, is_plain ? "cannot allocate host memory" : e.what());
    }
    catch (const std::length_error&) {
        SetError(PyExc_MemoryError, function, "cannot allocate host memory for a list: it has too many items");
    }
    catch (const std::invalid_argument& e) {
        SetError(g_value_error, function, e.what());
    }
    catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    }
    catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

}  // namespace chainerx::python
