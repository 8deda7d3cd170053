#include "chainerx/python/convert.h"

#include <climits>
#include <cmath>
#include <complex>
#include <cstring>

#include "chainerx/core/context.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/object.h"

namespace chainerx::python {
namespace {

// NumPy's dtypes, and its types of scalars, such as numpy.float32. That of bfloat16 comes from a package, which is
// imported when it is needed.
PyObject* g_dtypes[kNumDtypes];
PyObject* g_scalar_types[kNumDtypes];
PyTypeObject* g_numpy_generic;
PyTypeObject* g_numpy_bool;
PyTypeObject* g_numpy_integer;
PyTypeObject* g_numpy_floating;
PyTypeObject* g_numpy_complexfloating;
PyObject* g_numpy_dtype;
PyTypeObject* g_numpy_array;

// Clears errors that the caller words better. Other errors come from user code and propagate.
void ClearTypeError() {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
    PyErr_Clear();
}

void SetDtype(Dtype dtype, PyObject* type) {
    int i = static_cast<int>(dtype);
    g_dtypes[i] = Check(PyObject_CallFunctionObjArgs(g_numpy_dtype, type, nullptr)).release();
    g_scalar_types[i] = Check(PyObject_GetAttrString(g_dtypes[i], "type")).release();
}

void SetBfloat16(PyObject* ml_dtypes) {
    SetDtype(Dtype::kBfloat16, Check(PyObject_GetAttrString(ml_dtypes, "bfloat16")).get());
}

// Finds NumPy's bfloat16 if the program has imported it.
void FindBfloat16() {
    if (g_dtypes[static_cast<int>(Dtype::kBfloat16)] != nullptr) return;
    PyRef name = Check(PyUnicode_FromString("ml_dtypes"));
    PyRef module{PyImport_GetModule(name.get())};
    if (module && module.get() != Py_None) {
        SetBfloat16(module.get());
    } else if (PyErr_Occurred() != nullptr) {
        throw PythonError{};
    }
}

bool IsBfloat16Scalar(PyObject* o) {
    FindBfloat16();
    return reinterpret_cast<PyObject*>(Py_TYPE(o)) == g_scalar_types[static_cast<int>(Dtype::kBfloat16)];
}

}  // namespace

bool IsBfloat16Dtype(PyObject* numpy_dtype) {
    FindBfloat16();
    return numpy_dtype == g_dtypes[static_cast<int>(Dtype::kBfloat16)];
}

void InitConvert() {
    PyRef numpy = Check(PyImport_ImportModule("numpy"));
    g_numpy_dtype = Check(PyObject_GetAttrString(numpy.get(), "dtype")).release();
    for (int i = 0; i < kNumDtypes; ++i) {
        auto dtype = static_cast<Dtype>(i);
        if (dtype == Dtype::kBfloat16) continue;
        PyRef name = Check(PyUnicode_FromString(GetDtypeName(dtype)));
        SetDtype(dtype, name.get());
    }
    auto type = [&](const char* name) {
        return reinterpret_cast<PyTypeObject*>(Check(PyObject_GetAttrString(numpy.get(), name)).release());
    };
    g_numpy_array = type("ndarray");
    g_numpy_generic = type("generic");
    g_numpy_bool = type("bool_");
    g_numpy_integer = type("integer");
    g_numpy_floating = type("floating");
    g_numpy_complexfloating = type("complexfloating");
}

bool TryScalar(PyObject* o, Scalar* out) {
    if (PyFloat_Check(o)) {
        *out = Scalar{PyFloat_AS_DOUBLE(o)};
        return true;
    }
    if (PyBool_Check(o)) {
        *out = Scalar{o == Py_True};
        return true;
    }
    if (PyLong_Check(o)) {
        int overflow = 0;
        long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (CHAINERX_UNLIKELY(overflow != 0)) {
            unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
            if (overflow < 0 || PyErr_Occurred() != nullptr) {
                PyErr_SetString(PyExc_OverflowError, "an integer does not fit into 64 bits");
                throw PythonError{};
            }
            *out = Scalar{static_cast<uint64_t>(large)};
            return true;
        }
        *out = Scalar{static_cast<int64_t>(v)};
        return true;
    }
    if (PyComplex_Check(o) || PyObject_TypeCheck(o, g_numpy_complexfloating)) {
        Py_complex v = PyComplex_AsCComplex(o);
        if (v.real == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
        *out = Scalar{std::complex<double>{v.real, v.imag}};
        return true;
    }
    if (!IsNumpyScalar(o)) return false;
    if (PyObject_TypeCheck(o, g_numpy_bool)) {
        *out = Scalar{PyObject_IsTrue(o) == 1};
        return true;
    }
    if (PyObject_TypeCheck(o, g_numpy_integer)) {
        PyRef v = Check(PyNumber_Long(o));
        return TryScalar(v.get(), out);
    }
    // Text and dates would convert to float, too.
    if (!PyObject_TypeCheck(o, g_numpy_floating) && !IsBfloat16Scalar(o)) return false;
    PyRef v = Check(PyNumber_Float(o));
    *out = Scalar{PyFloat_AS_DOUBLE(v.get())};
    return true;
}

bool IsNumpyScalar(PyObject* o) { return PyObject_TypeCheck(o, g_numpy_generic); }

bool IsNumpyArray(PyObject* o) { return PyObject_TypeCheck(o, g_numpy_array); }

void ThrowNotArray(PyObject* o, const char* name, const char* expected) {
    const bool is_convertible = IsNumpyArray(o) || PyList_Check(o) || PyTuple_Check(o);
    const char* hint = is_convertible ? ": convert it with chainerx.asarray" : "";
    ThrowTypeError("%s must be %s, not %s%s", name, expected, Py_TYPE(o)->tp_name, hint);
}

PyObject* GetNumpyDtype(Dtype dtype) {
    PyObject*& found = g_dtypes[static_cast<int>(dtype)];
    if (CHAINERX_UNLIKELY(found == nullptr)) {
        PyRef module{PyImport_ImportModule("ml_dtypes")};
        if (!module) {
            if (PyErr_ExceptionMatches(PyExc_ImportError) == 0) throw PythonError{};
            PyErr_SetString(PyExc_ImportError,
                            "bfloat16 is a dtype of NumPy only with the package ml_dtypes: install it "
                            "(pip install ml_dtypes), or convert the array to float32 first");
            throw PythonError{};
        }
        SetBfloat16(module.get());
    }
    return found;
}

Dtype GetDtypeArg(PyObject* o) {
    for (int i = 0; i < kNumDtypes; ++i) {
        if (o == g_dtypes[i] || o == g_scalar_types[i]) return static_cast<Dtype>(i);
    }
    if (PyUnicode_Check(o)) {
        std::string text = GetText(o);
        const char* name = text.c_str();
        for (int i = 0; i < kNumDtypes; ++i) {
            auto dtype = static_cast<Dtype>(i);
            if (std::strcmp(name, GetDtypeName(dtype)) == 0) return dtype;
            if (name[0] == GetCharCode(dtype) && name[1] == '\0') return dtype;
        }
    }
    PyRef dtype{PyObject_CallFunctionObjArgs(g_numpy_dtype, o, nullptr)};
    if (!dtype) {
        if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};  // such as KeyboardInterrupt
        PyErr_Clear();
        PyRef text = Check(PyObject_ASCII(o));
        throw DtypeError{"unsupported dtype ", GetText(text.get())};
    }
    FindBfloat16();
    for (int i = 0; i < kNumDtypes; ++i) {
        if (g_dtypes[i] == nullptr) continue;
        int equal = PyObject_RichCompareBool(dtype.get(), g_dtypes[i], Py_EQ);
        if (equal < 0) throw PythonError{};
        if (equal == 1) return static_cast<Dtype>(i);
    }
    PyRef text = Check(PyObject_Str(dtype.get()));
    throw DtypeError{"unsupported dtype '", GetText(text.get()), "'"};
}

Device& GetDeviceArg(PyObject* o) {
    if (o == Py_None) return GetDefaultDevice();
    if (PyUnicode_Check(o)) return GetDefaultContext().GetDevice(GetText(o));
    if (!Is<DeviceRef>(o)) {
        ThrowTypeError("device must be chainerx.Device, str or None, not %s", Py_TYPE(o)->tp_name);
    }
    return *ValueOf<DeviceRef>(o).target;
}

int64_t GetIntArg(PyObject* o, const char* name) {
    PyRef index;
    if (CHAINERX_UNLIKELY(!PyLong_CheckExact(o))) {
        index = PyRef{PyNumber_Index(o)};
        if (!index) {
            ClearTypeError();
            ThrowTypeError("%s must be an integer, not %s", name, Py_TYPE(o)->tp_name);
        }
        o = index.get();
    }
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (CHAINERX_UNLIKELY(overflow != 0)) {
        PyErr_Format(PyExc_OverflowError, "%s is an integer that does not fit into 64 bits", name);
        throw PythonError{};
    }
    return v;
}

int Arg<int>::Get(PyObject* o, const char* name) {
    int64_t v = GetIntArg(o, name);
    if (v < INT_MIN || v > INT_MAX) {
        PyErr_Format(PyExc_OverflowError, "%s is an integer that does not fit into 32 bits", name);
        throw PythonError{};
    }
    return static_cast<int>(v);
}

bool IsSequence(PyObject* o) {
    if (PyList_Check(o) || PyTuple_Check(o)) return true;
    if (PySequence_Check(o) == 0) return false;
    if (PyIndex_Check(o) == 0) return true;
    PyRef number{PyNumber_Index(o)};
    if (!number) ClearTypeError();
    return !number;
}

int GetWordArg(PyObject* o, const char* name, const char* const* words, size_t n) {
    std::string word = Arg<std::string>::Get(o, name);
    for (size_t i = 0; i < n; ++i) {
        if (word == words[i]) return static_cast<int>(i);
    }
    ThrowValueError("%s must be %s, not '%s'", name, JoinWords(words, n, ", ", " or ").c_str(), word.c_str());
}

std::string JoinWords(const char* const* words, size_t n, const char* separator, const char* last_separator) {
    std::string out;
    for (size_t i = 0; i < n; ++i) {
        if (i > 0) out += i + 1 < n ? separator : last_separator;
        out.append("'").append(words[i]).append("'");
    }
    return out;
}

PyRef GetItems(PyObject* o, const char* name) {
    PyRef items{PySequence_Fast(o, "")};
    if (!items) {
        ClearTypeError();
        ThrowTypeError("%s must be a sequence, not %s", name, Py_TYPE(o)->tp_name);
    }
    return items;
}

std::string GetText(PyObject* unicode) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(unicode, &size);
    if (text == nullptr) throw PythonError{};
    return {text, static_cast<size_t>(size)};
}

PyRef ToTuple(const int64_t* values, size_t n) {
    PyRef tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(n)));
    for (size_t i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, Check(PyLong_FromLongLong(values[i])).release());
    return tuple;
}

namespace {

template <class D, class F>
D GetDims(PyObject* o, const char* name, F&& check) {
    D out;
    if (IsNdarray(o) || !IsSequence(o)) {
        out.push_back(check(GetIntArg(o, name)));
        return out;
    }
    ForEachItem(o, name, [&](PyObject* item) { out.push_back(check(GetIntArg(item, name))); });
    return out;
}

}  // namespace

Array Arg<ArrayOrNumber>::FromNumber(PyObject* o, const char* name) {
    Scalar s;
    if (!TryScalar(o, &s)) ThrowNotArray(o, name, "chainerx.ndarray or a number");
    return ArrayFromObject(o, std::nullopt, GetDefaultDevice());
}

Indices Arg<Indices>::Get(PyObject* o, const char*) {
    if (IsNdarray(o)) return GetArray(o);
    Device& device = GetDefaultDevice();
    // Host memory can be copied to any device.
    Array array = ArrayFromObject(
            o, std::nullopt, device.HasHostMemory() ? device : GetDefaultContext().GetBackend("native").GetDevice(0));
    return Indices::OfValues(array.GetTotalSize() == 0 ? AsType(array, Dtype::kInt64, false) : array);
}

Numbers Arg<Numbers>::Get(PyObject* o, const char* name) {
    if (IsNdarray(o) || IsNumpyArray(o)) {
        PyRef list = Check(PyObject_CallMethod(o, "tolist", nullptr));
        return Get(list.get(), name);
    }
    if (!IsSequence(o) || PyUnicode_Check(o)) return Arg<double>::Get(o, name);
    return Arg<std::vector<double>>::Get(o, name);
}

Sections Arg<Sections>::Get(PyObject* o, const char* name) {
    if (IsNdarray(o) || IsNumpyArray(o)) {
        PyRef list = Check(PyObject_CallMethod(o, "tolist", nullptr));
        return Get(list.get(), name);
    }
    if (IsSequence(o)) return Arg<std::vector<int64_t>>::Get(o, name);
    Scalar s;
    if (!TryScalar(o, &s) || s.kind() != DtypeKind::kFloat) return GetIntArg(o, name);
    auto v = static_cast<double>(s);
    if (v != std::trunc(v) || std::abs(v) >= 0x1p63) ThrowValueError("%s must be a whole number, not %R", name, o);
    return static_cast<int64_t>(v);
}

Triangle Arg<Triangle>::Get(PyObject* o, const char* name) {
    using Words = EnumWords<Triangle>;
    PyRef text = PyRef::Borrow(o);
    if (PyUnicode_Check(o)) text = Check(PyObject_CallMethod(o, "upper", nullptr));
    return static_cast<Triangle>(GetWordArg(text.get(), name, Words::kWords, std::size(Words::kWords)));
}

AxesPair Arg<AxesPair>::Get(PyObject* o, const char* name) {
    std::vector<PyRef> pair;
    if (IsSequence(o)) {
        ForEachItem(o, name, [&pair](PyObject* item) { pair.push_back(PyRef::Borrow(item)); });
    }
    if (pair.size() != 2) {
        ThrowValueError("tensordot: %s must be a number, a pair of axes or a pair of lists of axes", name);
    }
    return {Arg<Axes>::Get(pair[0].get(), name), Arg<Axes>::Get(pair[1].get(), name)};
}

Bytes Arg<HostBuffer>::Get(PyObject* o, const char* name) {
    if (PyObject_CheckBuffer(o) == 0) {
        ThrowTypeError("frombuffer: %s must have the buffer protocol, %s has not", name, Py_TYPE(o)->tp_name);
    }
    return Bytes{Check(PyBytes_FromObject(o))};
}

Shape Arg<Shape>::Get(PyObject* o, const char* name) {
    return GetDims<Shape>(o, name, [](int64_t v) { return v; });
}

Axes Arg<Axes>::Get(PyObject* o, const char* name) {
    return GetDims<Axes>(o, name, [](int64_t v) {
        if (v < -128 || v > 127) throw DimensionError{"axis ", v, " is out of bounds"};
        return static_cast<int8_t>(v);
    });
}

}  // namespace chainerx::python
