#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/factorization.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/window.h"
#include "chainerx/python/common.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {

// Numbers, including those of NumPy; false for anything else.
bool TryScalar(PyObject* o, Scalar* out);
bool IsNumpyScalar(PyObject* o);
// Arrays and numbers.
inline bool TryOperand(PyObject* o, Operand* out) {
    if (CHAINERX_LIKELY(IsNdarray(o))) {
        *out = Operand{GetArray(o)};
        return true;
    }
    Scalar s;
    if (!TryScalar(o, &s)) return false;
    *out = Operand{s};
    return true;
}

Dtype GetDtypeArg(PyObject* o);
// The numpy.dtype object (borrowed).
PyObject* GetNumpyDtype(Dtype dtype);
Device& GetDeviceArg(PyObject* o);  // None: the default device
int64_t GetIntArg(PyObject* o, const char* name);
// A list or tuple of the items. Not a sequence: TypeError.
PyRef GetItems(PyObject* o, const char* name);
// Calls f with each item. It may run code of users that changes the list.
template <class F>
void ForEachItem(PyObject* o, const char* name, F&& f) {
    PyRef items = GetItems(o, name);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        PyRef item = PyRef::Borrow(PySequence_Fast_GET_ITEM(items.get(), i));
        f(item.get());
    }
}
std::string GetText(PyObject* unicode);
PyRef ToTuple(const int64_t* values, size_t n);
template <class D>
PyRef ToTuple(const D& dims) {
    return ToTuple(dims.data(), dims.size());
}

void InitConvert();

struct DeviceRef {
    Device* device;
    operator Device&() const { return *device; }  // NOLINT(runtime/explicit)
};

// What a C++ parameter of type T takes from Python.
template <class T>
struct Arg;

template <>
struct Arg<Array> {
    static const Array& Get(PyObject* o, const char* name) {
        if (CHAINERX_LIKELY(IsNdarray(o))) return GetArray(o);
        ThrowTypeError("%s must be chainerx.ndarray, not %s", name, Py_TYPE(o)->tp_name);
    }
};
// An array, or a number that became one on the default device.
class ArrayOrNumber {
public:
    explicit ArrayOrNumber(const Array& a) : array_{&a} {}
    explicit ArrayOrNumber(Array&& number) : number_{std::move(number)}, array_{&number_} {}
    ArrayOrNumber(const ArrayOrNumber&) = delete;
    ArrayOrNumber& operator=(const ArrayOrNumber&) = delete;

    const Array& array() const { return *array_; }

private:
    Array number_;
    const Array* array_;
};
template <>
struct Arg<ArrayOrNumber> {
    static ArrayOrNumber Get(PyObject* o, const char* name) {
        if (CHAINERX_LIKELY(IsNdarray(o))) return ArrayOrNumber{GetArray(o)};
        return ArrayOrNumber{FromNumber(o, name)};
    }

private:
    static Array FromNumber(PyObject* o, const char* name);
};
template <>
struct Arg<Operand> {
    static Operand Get(PyObject* o, const char* name) {
        Operand operand;
        if (!TryOperand(o, &operand)) {
            ThrowTypeError("%s must be chainerx.ndarray or a number, not %s", name, Py_TYPE(o)->tp_name);
        }
        return operand;
    }
};
template <>
struct Arg<Scalar> {
    static Scalar Get(PyObject* o, const char* name) {
        Scalar s;
        if (!TryScalar(o, &s)) ThrowTypeError("%s must be a number, not %s", name, Py_TYPE(o)->tp_name);
        return s;
    }
};
template <>
struct Arg<int64_t> {
    static int64_t Get(PyObject* o, const char* name) { return GetIntArg(o, name); }
};
template <>
struct Arg<double> {
    static double Get(PyObject* o, const char* name) { return static_cast<double>(Arg<Scalar>::Get(o, name)); }
};
template <>
struct Arg<bool> {
    // None counts as false. Words and containers do not: they are arguments in the wrong place.
    static bool Get(PyObject* o, const char* name) {
        if (o == Py_True) return true;
        if (o == Py_False || o == Py_None) return false;
        PyNumberMethods* number = Py_TYPE(o)->tp_as_number;
        if (number == nullptr || number->nb_bool == nullptr) {
            ThrowTypeError("%s must be bool, not %s", name, Py_TYPE(o)->tp_name);
        }
        int truth = PyObject_IsTrue(o);
        if (truth < 0) throw PythonError{};
        return truth != 0;
    }
};
template <>
struct Arg<std::string> {
    static std::string Get(PyObject* o, const char* name) {
        if (!PyUnicode_Check(o)) ThrowTypeError("%s must be str, not %s", name, Py_TYPE(o)->tp_name);
        return GetText(o);
    }
};
template <>
struct Arg<Dtype> {
    static Dtype Get(PyObject* o, const char*) { return GetDtypeArg(o); }
};
template <>
struct Arg<DeviceRef> {
    static DeviceRef Get(PyObject* o, const char*) { return {&GetDeviceArg(o)}; }
};
template <>
struct Arg<Shape> {
    static Shape Get(PyObject* o, const char* name);
};
template <>
struct Arg<Axes> {
    static Axes Get(PyObject* o, const char* name);
};
template <>
struct Arg<PerAxis> {
    static PerAxis Get(PyObject* o, const char* name) {
        if (PySequence_Check(o)) return PerAxis{Arg<Shape>::Get(o, name)};
        return GetIntArg(o, name);
    }
};
template <>
struct Arg<PoolPadding> {
    static PoolPadding Get(PyObject* o, const char* name) {
        std::string mode = Arg<std::string>::Get(o, name);
        if (mode == "ignore") return PoolPadding::kIgnore;
        if (mode == "zero") return PoolPadding::kZero;
        ThrowValueError("%s must be 'ignore' or 'zero', not '%s'", name, mode.c_str());
    }
};
template <>
struct Arg<PadMode> {
    static PadMode Get(PyObject* o, const char* name) {
        std::string mode = Arg<std::string>::Get(o, name);
        if (mode == "constant") return PadMode::kConstant;
        if (mode == "edge") return PadMode::kEdge;
        if (mode == "reflect") return PadMode::kReflect;
        if (mode == "symmetric") return PadMode::kSymmetric;
        if (mode == "wrap") return PadMode::kWrap;
        ThrowValueError("%s must be 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', not '%s'", name,
                        mode.c_str());
    }
};
template <>
struct Arg<QrMode> {
    static QrMode Get(PyObject* o, const char* name) {
        std::string mode = Arg<std::string>::Get(o, name);
        if (mode == "reduced") return QrMode::kReduced;
        if (mode == "complete") return QrMode::kComplete;
        if (mode == "r") return QrMode::kR;
        if (mode == "raw") return QrMode::kRaw;
        ThrowValueError("%s must be 'reduced', 'complete', 'r' or 'raw', not '%s'", name, mode.c_str());
    }
};
template <>
struct Arg<Triangle> {
    static Triangle Get(PyObject* o, const char* name) {
        std::string triangle = Arg<std::string>::Get(o, name);
        if (triangle == "L") return Triangle::kLower;
        if (triangle == "U") return Triangle::kUpper;
        ThrowValueError("%s must be 'L' or 'U', not '%s'", name, triangle.c_str());
    }
};
template <>
struct Arg<NormOrder> {
    static NormOrder Get(PyObject* o, const char* name) {
        if (o == Py_None) return {};
        if (!PyUnicode_Check(o)) return Arg<double>::Get(o, name);
        std::string order = Arg<std::string>::Get(o, name);
        if (order == "fro") return NormOrder::kFrobenius;
        if (order == "nuc") return NormOrder::kNuclear;
        ThrowValueError("%s must be a number, 'fro', 'nuc' or None, not '%s'", name, order.c_str());
    }
};
template <class T>
struct Arg<std::optional<T>> {
    static std::optional<T> Get(PyObject* o, const char* name) {
        if (o == Py_None) return std::nullopt;
        return Arg<T>::Get(o, name);
    }
};
template <class T>
struct Arg<std::vector<T>> {
    static std::vector<T> Get(PyObject* o, const char* name) {
        if constexpr (std::is_same_v<T, int64_t>) {
            // A count or index stands for a list of one.
            if (PyIndex_Check(o) != 0 && !PySequence_Check(o)) return {GetIntArg(o, name)};
        }
        std::vector<T> out;
        if (PyList_Check(o) || PyTuple_Check(o)) out.reserve(PySequence_Fast_GET_SIZE(o));
        ForEachItem(o, name, [&](PyObject* item) { out.push_back(Arg<T>::Get(item, name)); });
        return out;
    }
};
// A Python object as it is.
template <>
struct Arg<PyObject*> {
    static PyObject* Get(PyObject* o, const char*) { return o; }
};

inline PyObject* ToPython(bool v) { return PyBool_FromLong(v); }
inline PyObject* ToPython(int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject* ToPython(double v) { return PyFloat_FromDouble(v); }
inline PyObject* ToPython(const std::string& v) { return PyUnicode_FromStringAndSize(v.data(), v.size()); }
inline PyObject* ToPython(PyRef v) { return v.release(); }
inline PyObject* ToPython(const std::vector<Array>& v) {
    PyRef list = Check(PyList_New(static_cast<Py_ssize_t>(v.size())));
    for (size_t i = 0; i < v.size(); ++i) PyList_SET_ITEM(list.get(), i, Check(ToPython(v[i])).release());
    return list.release();
}
template <class... T>
PyObject* ToPython(const std::tuple<T...>& v) {
    PyRef tuple = Check(PyTuple_New(sizeof...(T)));
    std::apply(
            [&tuple, i = Py_ssize_t{0}](const T&... items) mutable {
                (PyTuple_SET_ITEM(tuple.get(), i++, Check(ToPython(items)).release()), ...);
            },
            v);
    return tuple.release();
}

}  // namespace chainerx::python
