#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/elementwise.h"
#include "chainerx/ops/factorization.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/statistics.h"
#include "chainerx/ops/window.h"
#include "chainerx/python/common.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {

// Converts a number, including NumPy's; returns false for other objects.
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
// Raises ImportError for bfloat16, if the package is missing that NumPy has it from.
PyObject* GetNumpyDtype(Dtype dtype);
bool IsBfloat16Dtype(PyObject* numpy_dtype);
Device& GetDeviceArg(PyObject* o);  // None: the default device
// A device that stays while user code runs, which may end a context whose default device it is.
class HeldDevice {
public:
    explicit HeldDevice(Device* device)
        : device_{device}, context_{Context::Share(device == nullptr ? nullptr : &device->context())} {}
    operator Device&() const { return *device_; }  // NOLINT(runtime/explicit)
    operator Device*() const { return device_; }   // NOLINT(runtime/explicit)

private:
    Device* device_;
    ContextPtr context_;
};
int64_t GetIntArg(PyObject* o, const char* name);
// Whether an argument that may be one number or several is several. Numbers and arrays of NumPy have the methods of
// both.
bool IsSequence(PyObject* o);
bool IsNumpyArray(PyObject* o);
// Names chainerx.asarray for what it makes an array of.
[[noreturn]] void ThrowNotArray(PyObject* o, const char* name, const char* expected);
// The position among the words.
int GetWordArg(PyObject* o, const char* name, const char* const* words, size_t n);
// The words in quotes.
std::string JoinWords(const char* const* words, size_t n, const char* separator, const char* last_separator);
// A list or tuple of the items. Raises TypeError if the object is no sequence.
PyRef GetItems(PyObject* o, const char* name);
// Calls f with each item. f may run user code that changes the list.
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

// Conversion of a Python argument to a C++ parameter of type T: Get converts, and Type is the text for type stubs. For
// a std::variant of two types, Accepts tells whether an object has this type.
template <class T, class = void>
struct Arg;

template <>
struct Arg<Array> {
    static std::string Type() { return "ndarray"; }
    static bool Accepts(PyObject* o) { return IsNdarray(o); }
    static const Array& Get(PyObject* o, const char* name) {
        if (CHAINERX_LIKELY(IsNdarray(o))) return GetArray(o);
        ThrowNotArray(o, name, "chainerx.ndarray");
    }
};
// An array, or a number, which becomes an array on the default device.
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
    static std::string Type() { return "_Operand"; }
    static ArrayOrNumber Get(PyObject* o, const char* name) {
        if (CHAINERX_LIKELY(IsNdarray(o))) return ArrayOrNumber{GetArray(o)};
        return ArrayOrNumber{FromNumber(o, name)};
    }

private:
    static Array FromNumber(PyObject* o, const char* name);
};
template <>
struct Arg<Operand> {
    static std::string Type() { return "_Operand"; }
    static Operand Get(PyObject* o, const char* name) {
        Operand operand;
        if (!TryOperand(o, &operand)) ThrowNotArray(o, name, "chainerx.ndarray or a number");
        return operand;
    }
};
template <>
struct Arg<Scalar> {
    static std::string Type() { return "_Number"; }
    static Scalar Get(PyObject* o, const char* name) {
        Scalar s;
        if (!TryScalar(o, &s)) ThrowTypeError("%s must be a number, not %s", name, Py_TYPE(o)->tp_name);
        return s;
    }
};
template <>
struct Arg<int64_t> {
    static std::string Type() { return "int"; }
    static bool Accepts(PyObject* o) { return PyIndex_Check(o) != 0 && !IsSequence(o); }
    static int64_t Get(PyObject* o, const char* name) { return GetIntArg(o, name); }
};
template <>
struct Arg<int> {
    static std::string Type() { return "int"; }
    static int Get(PyObject* o, const char* name);
};
template <>
struct Arg<double> {
    static std::string Type() { return "float"; }
    static double Get(PyObject* o, const char* name) {
        Scalar s = Arg<Scalar>::Get(o, name);
        if (CHAINERX_UNLIKELY(s.kind() == DtypeKind::kComplex)) {
            ThrowTypeError("%s must be a real number, not %s", name, Py_TYPE(o)->tp_name);
        }
        return static_cast<double>(s);
    }
};
template <>
struct Arg<bool> {
    static std::string Type() { return "bool"; }
    // None counts as false. Strings and containers raise: they are arguments in the wrong place.
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
    static std::string Type() { return "str"; }
    static std::string Get(PyObject* o, const char* name) {
        if (!PyUnicode_Check(o)) ThrowTypeError("%s must be str, not %s", name, Py_TYPE(o)->tp_name);
        return GetText(o);
    }
};
template <>
struct Arg<Dtype> {
    static std::string Type() { return "DTypeLike"; }
    static Dtype Get(PyObject* o, const char*) { return GetDtypeArg(o); }
};
template <>
struct Arg<Device> {
    static std::string Type() { return "_DeviceLike"; }
    static HeldDevice Get(PyObject* o, const char*) { return HeldDevice{&GetDeviceArg(o)}; }
};
// No device if the function chooses one itself.
template <>
struct Arg<Device*> {
    static std::string Type() { return "_DeviceLike"; }
    static HeldDevice Get(PyObject* o, const char*) { return HeldDevice{o == Py_None ? nullptr : &GetDeviceArg(o)}; }
};
template <>
struct Arg<Indices> {
    static std::string Type() { return "ndarray | ArrayLike"; }
    static Indices Get(PyObject* o, const char*);
};
// Enums have a word for each value, except Dtype, which has its own conversion.
template <class E>
struct Arg<E, std::enable_if_t<std::is_enum_v<E>>> {
    static std::string Type() {
        return "Literal[" + JoinWords(EnumWords<E>::kWords, std::size(EnumWords<E>::kWords), ", ", ", ") + "]";
    }
    static E Get(PyObject* o, const char* name) {
        return static_cast<E>(GetWordArg(o, name, EnumWords<E>::kWords, std::size(EnumWords<E>::kWords)));
    }
};
template <>
struct Arg<Numbers> {
    static std::string Type() { return "_Number | Sequence[_Number] | numpy.ndarray | ndarray"; }
    static Numbers Get(PyObject* o, const char* name);
};
template <>
struct Arg<Shape> {
    static std::string Type() { return "_Ints"; }
    static Shape Get(PyObject* o, const char* name);
};
template <>
struct Arg<Axes> {
    static std::string Type() { return "_Ints"; }
    static Axes Get(PyObject* o, const char* name);
};
template <>
struct Arg<PerAxis> {
    static std::string Type() { return "_Ints"; }
    static PerAxis Get(PyObject* o, const char* name) {
        if (IsSequence(o)) return PerAxis{Arg<Shape>::Get(o, name)};
        return GetIntArg(o, name);
    }
};
template <>
struct Arg<NormOrder> {
    static std::string Type() { return "float | str | None"; }
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
    static std::string Type() { return Arg<T>::Type() + " | None"; }
    static std::optional<T> Get(PyObject* o, const char* name) {
        if (o == Py_None) return std::nullopt;
        return Arg<T>::Get(o, name);
    }
};
template <class T>
struct Arg<std::vector<T>> {
    static std::string Type() {
        std::string type = "Sequence[" + Arg<T>::Type() + "]";
        return std::is_same_v<T, int64_t> ? "int | " + type : type;
    }
    static std::vector<T> Get(PyObject* o, const char* name) {
        if constexpr (std::is_same_v<T, int64_t>) {
            // A number counts as a list of one.
            if (PyIndex_Check(o) != 0 && !IsSequence(o)) return {GetIntArg(o, name)};
        }
        std::vector<T> out;
        if (PyList_Check(o) || PyTuple_Check(o)) out.reserve(PySequence_Fast_GET_SIZE(o));
        ForEachItem(o, name, [&](PyObject* item) { out.push_back(Arg<T>::Get(item, name)); });
        return out;
    }
};
template <>
struct Arg<AxesPair> {
    static std::string Type() { return "Sequence[_Ints]"; }
    static AxesPair Get(PyObject* o, const char* name);
};
// Bytes that do not change while the function runs.
class Bytes {
public:
    explicit Bytes(PyRef bytes) : bytes_{std::move(bytes)} {}
    operator HostBuffer() const {  // NOLINT(runtime/explicit)
        return {PyBytes_AS_STRING(bytes_.get()), PyBytes_GET_SIZE(bytes_.get())};
    }

private:
    PyRef bytes_;
};
template <>
struct Arg<HostBuffer> {
    static std::string Type() { return "Any"; }
    static Bytes Get(PyObject* o, const char* name);
};
template <class First, class Last>
struct Arg<std::variant<First, Last>> {
    static std::string Type() { return Arg<First>::Type() + " | " + Arg<Last>::Type(); }
    static std::variant<First, Last> Get(PyObject* o, const char* name) {
        if (Arg<First>::Accepts(o)) return Arg<First>::Get(o, name);
        return Arg<Last>::Get(o, name);
    }
};
// The number may be a whole one in floating point, such as a quotient.
template <>
struct Arg<Sections> {
    static std::string Type() { return "float | Sequence[int] | numpy.ndarray | ndarray"; }
    static Sections Get(PyObject* o, const char* name);
};
// In upper or lower case.
template <>
struct Arg<Triangle> {
    static std::string Type() { return "Literal['L', 'U', 'l', 'u']"; }
    static Triangle Get(PyObject* o, const char* name);
};
template <class T>
struct Arg<Sides<T>> {
    static std::string Type() {
        const std::string one = Arg<T>::Type();
        return one + " | Sequence[" + one + "] | Sequence[Sequence[" + one + "]]";
    }
    static Sides<T> Get(PyObject* o, const char* name) {
        std::vector<PyRef> axes = Items(o, name);
        if (std::none_of(axes.begin(), axes.end(), [](const PyRef& p) { return IsSequence(p.get()); })) {
            axes = {PyRef::Borrow(o)};
        }
        std::vector<std::vector<T>> rows;
        for (const PyRef& axis : axes) {
            std::vector<T>& row = rows.emplace_back();
            for (const PyRef& side : Items(axis.get(), name)) row.push_back(Arg<T>::Get(side.get(), name));
        }
        return rows;
    }

private:
    // A single item counts as a list of one.
    static std::vector<PyRef> Items(PyObject* o, const char* name) {
        if (!IsSequence(o) || PyUnicode_Check(o)) return {PyRef::Borrow(o)};
        std::vector<PyRef> items;
        ForEachItem(o, name, [&items](PyObject* item) { items.push_back(PyRef::Borrow(item)); });
        return items;
    }
};
// A Python object without conversion.
template <>
struct Arg<PyObject*> {
    static std::string Type() { return "Any"; }
    static PyObject* Get(PyObject* o, const char*) { return o; }
};

struct PyCallable {
    PyObject* object;
};
template <>
struct Arg<PyCallable> {
    static std::string Type() { return "Callable[..., Any]"; }
    static PyCallable Get(PyObject* o, const char*) { return {o}; }
};

inline PyObject* ToPython(bool v) { return PyBool_FromLong(v); }
inline PyObject* ToPython(int v) { return PyLong_FromLong(v); }
inline PyObject* ToPython(int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject* ToPython(double v) { return PyFloat_FromDouble(v); }
inline PyObject* ToPython(const std::string& v) { return PyUnicode_FromStringAndSize(v.data(), v.size()); }
inline PyObject* ToPython(PyRef v) { return v.release(); }
PyObject* ToPython(Context& context);
PyObject* ToPython(Backend& backend);
PyObject* ToPython(Device& device);
inline PyObject* ToPython(const HeldDevice& device) { return ToPython(static_cast<Device&>(device)); }
template <class T>
PyObject* ToPython(const std::optional<T>& v) {
    if (!v.has_value()) Py_RETURN_NONE;
    return ToPython(*v);
}
inline PyObject* ToPython(const std::vector<Array>& v) {
    PyRef list = Check(PyList_New(static_cast<Py_ssize_t>(v.size())));
    for (size_t i = 0; i < v.size(); ++i) PyList_SET_ITEM(list.get(), i, Check(ToPython(v[i])).release());
    return list.release();
}
// An index for several dimensions has to be a tuple.
inline PyObject* ToPython(const ArrayTuple& v) {
    PyRef list = Check(ToPython(static_cast<const std::vector<Array>&>(v)));
    return PyList_AsTuple(list.get());
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
template <class... T>
PyObject* ToPython(const std::variant<T...>& v) {
    return std::visit([](const auto& value) { return ToPython(value); }, v);
}

// Python objects of a known type.
struct NumpyArray : PyRef {
    NumpyArray(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};
struct PyNumber : PyRef {
    PyNumber(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};
struct PyTuple : PyRef {
    PyTuple(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};
struct PyDict : PyRef {
    PyDict(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};
struct PyList : PyRef {
    PyList(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};

// The type of the result of ToPython for a T, for type stubs.
template <class T>
struct ResultType;
#define CHAINERX_RESULT_TYPE(T, text)              \
    template <>                                    \
    struct ResultType<T> {                         \
        static std::string Text() { return text; } \
    };
CHAINERX_RESULT_TYPE(void, "None")
CHAINERX_RESULT_TYPE(bool, "bool")
CHAINERX_RESULT_TYPE(int, "int")
CHAINERX_RESULT_TYPE(int64_t, "int")
CHAINERX_RESULT_TYPE(std::string, "str")
CHAINERX_RESULT_TYPE(Array, "ndarray")
CHAINERX_RESULT_TYPE(Context, "Context")
CHAINERX_RESULT_TYPE(Backend, "Backend")
CHAINERX_RESULT_TYPE(Device, "Device")
CHAINERX_RESULT_TYPE(HeldDevice, "Device")
CHAINERX_RESULT_TYPE(ArrayTuple, "tuple[ndarray, ...]")
CHAINERX_RESULT_TYPE(PyRef, "Any")
CHAINERX_RESULT_TYPE(NumpyArray, "numpy.ndarray")
CHAINERX_RESULT_TYPE(PyNumber, "bool | int | float | complex")
CHAINERX_RESULT_TYPE(PyTuple, "tuple[Any, ...]")
CHAINERX_RESULT_TYPE(PyDict, "dict[str, Any]")
CHAINERX_RESULT_TYPE(PyList, "list[Any]")
#undef CHAINERX_RESULT_TYPE
template <class T>
struct ResultType<std::optional<T>> {
    static std::string Text() { return ResultType<T>::Text() + " | None"; }
};
template <class T>
struct ResultType<std::vector<T>> {
    static std::string Text() { return "list[" + ResultType<T>::Text() + "]"; }
};
template <class First, class... T>
struct ResultType<std::tuple<First, T...>> {
    static std::string Text() {
        return "tuple[" + ResultType<First>::Text() + (... + (", " + ResultType<T>::Text())) + "]";
    }
};
template <class First, class Last>
struct ResultType<std::variant<First, Last>> {
    static std::string Text() { return ResultType<First>::Text() + " | " + ResultType<Last>::Text(); }
};

}  // namespace chainerx::python
