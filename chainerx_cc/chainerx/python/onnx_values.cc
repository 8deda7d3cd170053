// Values of ONNX models as objects of Python.

#include "chainerx/python/onnx_values.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/python/convert.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

PyRef Attribute(PyObject* o, const char* name) { return Check(PyObject_GetAttrString(o, name)); }
PyRef Call(PyObject* o, const char* name) { return Check(PyObject_CallMethod(o, name, nullptr)); }

// A string, or an array of NumPy whose elements are strings or objects.
bool HasStrings(PyObject* o) {
    if (PyUnicode_Check(o)) return true;
    PyRef dtype{PyObject_GetAttrString(o, "dtype")};
    PyRef kind{dtype ? PyObject_GetAttrString(dtype.get(), "kind") : nullptr};
    PyErr_Clear();
    const char* text = kind && PyUnicode_Check(kind.get()) ? PyUnicode_AsUTF8(kind.get()) : nullptr;
    return text != nullptr && std::strchr("OSU", text[0]) != nullptr;
}

std::string TextOf(PyObject* o) {
    if (PyBytes_Check(o)) return {PyBytes_AS_STRING(o), static_cast<size_t>(PyBytes_GET_SIZE(o))};
    if (!PyUnicode_Check(o)) ThrowTypeError("expected a string, not %s", Py_TYPE(o)->tp_name);
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(o, &size);
    if (text == nullptr) throw PythonError{};
    return {text, static_cast<size_t>(size)};
}

PyRef NumpyObjects(PyObject* o) {
    PyRef numpy = Check(PyImport_ImportModule("numpy"));
    return Check(PyObject_CallMethod(numpy.get(), "asarray", "OO", o, reinterpret_cast<PyObject*>(&PyBaseObject_Type)));
}

onnx::Value StringsFrom(PyObject* o) {
    PyRef array = NumpyObjects(o);
    PyRef dims = Attribute(array.get(), "shape");
    PyRef flat = Call(array.get(), "ravel");
    PyRef items = Call(flat.get(), "tolist");
    onnx::Strings out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dims.get()); ++i) {
        out.shape.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(dims.get(), i)));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
        out.items.push_back(TextOf(PyList_GET_ITEM(items.get(), i)));
    }
    return onnx::Value::Of(std::move(out));
}

// A list of strings or of numbers, of which floats of Python are of single precision.
onnx::Value VectorFrom(PyObject* list, Device& device) {
    PyObject* first = PyList_GET_SIZE(list) == 0 ? nullptr : PyList_GET_ITEM(list, 0);
    if (first != nullptr && PyUnicode_Check(first)) return StringsFrom(list);
    Array values = ArrayFromObject(list, std::nullopt, device, false);
    return first == nullptr || PyFloat_CheckExact(first) ? AsType(values, Dtype::kFloat32, false) : values;
}

onnx::Value MapFrom(PyObject* o, Device& device) {
    PyRef keys = Check(PyDict_Keys(o));
    PyRef values = Check(PyDict_Values(o));
    onnx::Value key_vector = VectorFrom(keys.get(), device);
    if (key_vector.array()) key_vector = AsType(key_vector.array(), Dtype::kInt64, false);
    return onnx::Value::Of(onnx::Map{std::move(key_vector), VectorFrom(values.get(), device)});
}

PyRef ObjectFrom(const onnx::Strings& strings) {
    PyRef list = Check(PyList_New(static_cast<Py_ssize_t>(strings.items.size())));
    for (size_t i = 0; i < strings.items.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Check(ToPython(strings.items[i])).release());
    }
    PyRef shape = Check(PyTuple_New(static_cast<Py_ssize_t>(strings.shape.size())));
    for (size_t i = 0; i < strings.shape.size(); ++i) {
        PyTuple_SET_ITEM(shape.get(), static_cast<Py_ssize_t>(i),
                         Check(PyLong_FromLongLong(strings.shape[i])).release());
    }
    PyRef array = NumpyObjects(list.get());
    return Check(PyObject_CallMethod(array.get(), "reshape", "(O)", shape.get()));
}

PyRef ObjectFrom(const onnx::Sequence& sequence) {
    PyRef list = Check(PyList_New(0));
    for (const onnx::Value& item : sequence.items) {
        if (PyList_Append(list.get(), ObjectFromOnnxValue(item).get()) < 0) throw PythonError{};
    }
    return list;
}

// A vector as a list of objects of Python.
PyRef ListOf(const onnx::Value& vector) {
    PyRef array = vector.array() ? ToNumpy(vector.array(), false) : ObjectFromOnnxValue(vector);
    return Call(array.get(), "tolist");
}

PyRef ObjectFrom(const onnx::Map& map) {
    PyRef keys = ListOf(map.keys);
    PyRef values = ListOf(map.values);
    PyRef dict = Check(PyDict_New());
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys.get()); ++i) {
        PyObject* value = PyList_GET_ITEM(values.get(), i);
        if (PyDict_SetItem(dict.get(), PyList_GET_ITEM(keys.get(), i), value) < 0) throw PythonError{};
    }
    return dict;
}

}  // namespace

onnx::Value OnnxValueFromObject(PyObject* o, const onnx::ValueInfo& info, Device& device) {
    using Kind = onnx::ValueInfo::Kind;
    if (IsNdarray(o)) return GetArray(o);
    if (o == Py_None) return {};
    if (PyDict_Check(o)) return MapFrom(o, device);
    bool is_list = PyList_Check(o) || PyTuple_Check(o);
    if (is_list && info.kind == Kind::kSequence) {
        onnx::Sequence out;
        PyRef items = Check(PySequence_Fast(o, "expected a sequence"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
            out.items.push_back(OnnxValueFromObject(PySequence_Fast_GET_ITEM(items.get(), i), {}, device));
        }
        return onnx::Value::Of(std::move(out));
    }
    if (HasStrings(o) || (is_list && info.kind == Kind::kStrings)) return StringsFrom(o);
    return ArrayFromObject(o, std::nullopt, device, false);
}

PyRef ObjectFromOnnxValue(const onnx::Value& value) {
    if (value.array()) return Check(ToPython(value.array()));
    if (const auto* strings = value.As<onnx::Strings>()) return ObjectFrom(*strings);
    if (const auto* sequence = value.As<onnx::Sequence>()) return ObjectFrom(*sequence);
    if (const auto* map = value.As<onnx::Map>()) return ObjectFrom(*map);
    return PyRef::Borrow(Py_None);
}

}  // namespace chainerx::python
