#include "chainerx/python/interop.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <string>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/data_watch.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/docs/creation.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

// The dtype of a PEP 3118 format in native byte order, if ChainerX has it.
std::optional<Dtype> FromFormat(const char* format, Py_ssize_t item_size) {
    if (format == nullptr) return Dtype::kUInt8;
    std::string f = format;
    if (f.size() > 1 && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f.erase(0, 1);
    if (f == "Zf") return Dtype::kComplex64;
    if (f == "Zd") return Dtype::kComplex128;
    if (f.size() != 1) return std::nullopt;
    switch (f[0]) {
        case 'i':
        case 'l':
        case 'q':
            return item_size == 8 ? Dtype::kInt64 : Dtype::kInt32;
        case 'I':
        case 'L':
        case 'Q':
            return item_size == 8 ? Dtype::kUInt64 : Dtype::kUInt32;
        default:
            break;
    }
    for (int i = 0; i < kNumDtypes; ++i) {
        auto dtype = static_cast<Dtype>(i);
        if (f[0] == GetCharCode(dtype) && !IsComplex(dtype)) return dtype;
    }
    return std::nullopt;
}

void ReleaseBorrowed(Storage* storage) noexcept {
    auto* view = static_cast<Py_buffer*>(storage->owner());
    if (Py_IsInitialized() != 0) {
        GilScope gil;
        PyBuffer_Release(view);
    }
    delete view;
    delete storage;
}

void ReleaseBase(Storage* storage) noexcept {
    if (Py_IsInitialized() != 0) {
        GilScope gil;
        Py_XDECREF(static_cast<PyObject*>(storage->owner()));
    }
    delete storage;
}

// Owns a Py_buffer until another object takes it.
struct BufferHolder {
    Py_buffer* view = new Py_buffer{};
    bool held = false;
    ~BufferHolder() {
        if (held) PyBuffer_Release(view);
        delete view;
    }
};

PyRef Numpy(const char* name) {
    static PyObject* numpy = PyImport_ImportModule("numpy");
    if (numpy == nullptr) throw PythonError{};
    return Check(PyObject_GetAttrString(numpy, name));
}

// The bits of NumPy's bfloat16, which has no buffer, as an array of NumPy; nothing for anything else.
PyRef Bfloat16Bits(PyObject* o) {
    if (!IsNumpyArray(o)) return PyRef{};
    PyRef dtype = Check(PyObject_GetAttrString(o, "dtype"));
    if (!IsBfloat16Dtype(dtype.get())) return PyRef{};
    return Check(PyObject_CallMethod(o, "view", "s", "uint16"));
}

// A copy whose axes have the same order in memory.
Array CopyInOrder(const Array& a) {
    Axes order;
    for (int8_t i = 0; i < a.ndim(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int8_t i, int8_t j) { return std::abs(a.strides()[i]) > std::abs(a.strides()[j]); });
    if (std::is_sorted(order.begin(), order.end())) return Copy(a);
    Axes back = order;
    for (int8_t i = 0; i < a.ndim(); ++i) back[order[i]] = i;
    return Transpose(Copy(Transpose(a, order)), back);
}

// An array over the memory of a buffer, or copied from it. No array when the object has no suitable buffer.
Array FromBuffer(PyObject* o, Device& device, bool share) {
    // The buffer of a NumPy scalar may be its bytes, without strides.
    if (PyObject_CheckBuffer(o) == 0 || PyBytes_Check(o) || IsNumpyScalar(o)) return Array{};
    BufferHolder holder;
    if (PyObject_GetBuffer(o, holder.view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        PyErr_Clear();
        PyRef bits = Bfloat16Bits(o);
        Array a = bits ? FromBuffer(bits.get(), device, share) : Array{};
        return a ? ViewBits(a, Dtype::kBfloat16) : a;
    }
    holder.held = true;
    Py_buffer& v = *holder.view;
    std::optional<Dtype> dtype = FromFormat(v.format, v.itemsize);
    if (!dtype.has_value() || GetItemSize(*dtype) != v.itemsize) return Array{};
    if (v.ndim > 0 && (v.shape == nullptr || v.strides == nullptr)) return Array{};
    Shape shape(v.shape, v.shape + v.ndim);
    Strides strides(v.strides, v.strides + v.ndim);
    bool aligned = reinterpret_cast<uintptr_t>(v.buf) % v.itemsize == 0;
    for (int64_t s : strides) aligned = aligned && s % v.itemsize == 0;
    if (!aligned) return Array{};
    bool writable = v.readonly == 0;
    StoragePtr storage{new Storage{v.buf, static_cast<size_t>(v.len), device, &ReleaseBorrowed, holder.view}};
    holder.held = false;
    holder.view = nullptr;
    Array a = internal::MakeArray(shape, strides, *dtype, device, std::move(storage), 0);
    if (share && writable) return NoteData(std::move(a));
    return NoteData([&a] {
        internal::UnwatchedScope unwatched;
        return CopyInOrder(a);
    }());
}

// An array of a flat list or tuple of Python floats, which fit into the dtype; no array for anything else.
Array FromFloats(PyObject* o, std::optional<Dtype> dtype, Device& device) {
    if (!PyList_CheckExact(o) && !PyTuple_CheckExact(o)) return Array{};
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    PyObject** items = PySequence_Fast_ITEMS(o);
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (!PyFloat_Check(items[i])) return Array{};  // NumPy's float64 is one
    }
    if (n == 0) return Array{};
    std::vector<double> values(n);
    for (Py_ssize_t i = 0; i < n; ++i) {
        values[i] = PyFloat_AS_DOUBLE(items[i]);
        if (dtype.has_value()) CheckScalarFits(values[i], *dtype);
    }
    return FromHost({n}, Dtype::kFloat64, values.data(), device);
}

}  // namespace

Array ViewBits(const Array& a, Dtype dtype) {
    if (GetItemSize(dtype) != a.GetItemSize()) {
        throw DtypeError{"the bits of dtype ", a.dtype(), " are none of dtype ", dtype};
    }
    return internal::MakeArray(a.shape(), a.strides(), dtype, a.device(), a.body()->storage, a.offset());
}

Array ShareMemory(void* data, const Shape& shape, const Strides& strides, Dtype dtype, Device& device, PyObject* base,
                  int64_t offset) {
    NoteGraphBreak("an array shares memory of the program");
    CheckShape(shape, GetItemSize(dtype));
    auto bytes = static_cast<size_t>(shape.GetTotalSize() * GetItemSize(dtype));
    StoragePtr storage{new Storage{data, bytes, device, &ReleaseBase, Py_NewRef(base)}};
    return internal::MakeArray(shape, strides, dtype, device, std::move(storage), offset);
}

void CheckNoGraph(const Array& a, const char* what) {
    if (a.IsAnyBackpropRequired()) {
        throw ChainerxError{what,
                            ": the array belongs to a computational graph, which would be lost; "
                            "use as_grad_stopped() first if that is intended"};
    }
}

Array ArrayFromObject(PyObject* o, std::optional<Dtype> dtype, Device& device, bool copy) {
    HeldDevice held{&device};
    if (IsNdarray(o)) {
        Array a = ToDevice(GetArray(o), device);
        if (dtype.has_value() && *dtype != a.dtype()) return AsType(a, *dtype);
        return copy && a.body() == GetArray(o).body() ? Copy(a) : a;
    }
    if (!device.HasHostMemory()) {
        return ToDevice(ArrayFromObject(o, dtype, device.context().GetDevice("native"), false), device);
    }
    bool convert = dtype.has_value();
    Array a = FromFloats(o, dtype, device);
    if (a) return convert ? AsType(a, *dtype, false) : a;
    a = FromBuffer(o, device, !copy);
    if (!a) {
        Scalar s;
        // Integers of any size can become floating point.
        bool is_number = !(convert && PyLong_Check(o)) && TryScalar(o, &s);
        if (convert && is_number) CheckScalarFits(s, *dtype);
        if (!convert && is_number) {
            // Wider than what other functions make of numbers: this one copies objects of Python.
            Dtype d = s.kind() == DtypeKind::kBool    ? Dtype::kBool
                      : s.kind() == DtypeKind::kInt   ? Dtype::kInt64
                      : s.kind() == DtypeKind::kUInt  ? Dtype::kUInt64
                      : s.kind() == DtypeKind::kFloat ? Dtype::kFloat64
                                                      : Dtype::kComplex128;
            PyRef own{PyObject_GetAttrString(o, "dtype")};  // NumPy's numbers have one
            if (own) {
                d = GetDtypeArg(own.get());
            } else {
                PyErr_Clear();
            }
            return Full({}, s, d, device);
        }
        PyRef asarray = Numpy("array");
        // NumPy may not have bfloat16.
        Dtype target = dtype == Dtype::kBfloat16 ? Dtype::kFloat64 : dtype.value_or(Dtype::kBool);
        PyRef array = Check(convert ? PyObject_CallFunctionObjArgs(asarray.get(), o, GetNumpyDtype(target), nullptr)
                                    : PyObject_CallFunctionObjArgs(asarray.get(), o, nullptr));
        PyRef own = Check(PyObject_GetAttrString(array.get(), "dtype"));
        PyRef native_order = Check(PyObject_CallMethod(own.get(), "newbyteorder", "s", "="));
        Dtype d = GetDtypeArg(native_order.get());  // raises DtypeError for other dtypes
        PyRef ascontiguous = Numpy("array");
        PyRef native = Check(PyObject_CallFunction(ascontiguous.get(), "OO", array.get(), GetNumpyDtype(d)));
        a = FromBuffer(native.get(), device, false);
        if (!a) ThrowTypeError("cannot make an array from %s", Py_TYPE(o)->tp_name);
    }
    return convert ? AsType(a, *dtype, false) : a;
}

PyRef ToNumpy(const Array& a, bool copy) {
    Array host = a.AsDetached();
    if (!a.device().HasHostMemory()) {
        host = ToDevice(host, a.context().GetDevice("native"));
    } else if (copy) {
        host = Copy(host);
    }
    bool is_bfloat16 = a.dtype() == Dtype::kBfloat16;
    PyObject* dtype = is_bfloat16 ? GetNumpyDtype(Dtype::kBfloat16) : nullptr;
    PyRef object = Check(ToPython(is_bfloat16 ? ViewBits(host, Dtype::kUInt16) : host));
    PyRef memory = Check(PyMemoryView_FromObject(object.get()));
    PyRef asarray = Numpy("asarray");
    PyRef array = Check(PyObject_CallFunctionObjArgs(asarray.get(), memory.get(), nullptr));
    return is_bfloat16 ? Check(PyObject_CallMethod(array.get(), "view", "O", dtype)) : std::move(array);
}

PyRef ItemOf(const Array& a) {
    Scalar s = AsScalar(a);
    if (s.kind() == DtypeKind::kBool) return PyRef::Borrow(static_cast<bool>(s) ? Py_True : Py_False);
    if (s.kind() == DtypeKind::kFloat) return Check(PyFloat_FromDouble(static_cast<double>(s)));
    if (s.kind() == DtypeKind::kComplex) {
        auto v = s.To<std::complex<double>>();
        return Check(PyComplex_FromDoubles(v.real(), v.imag()));
    }
    if (s.kind() == DtypeKind::kUInt) return Check(PyLong_FromUnsignedLongLong(s.To<uint64_t>()));
    return Check(PyLong_FromLongLong(static_cast<int64_t>(s)));
}

int GetBuffer(PyObject* self, Py_buffer* view, int flags) noexcept {
    return Guard(-1, [&] {
        const Array& a = GetArray(self);
        NoteGraphBreak("the program looks into the memory of an array");
        view->obj = nullptr;
        if (a.IsAnyBackpropRequired()) {
            PyErr_SetString(PyExc_BufferError,
                            "the array belongs to a computational graph; use as_grad_stopped() first");
            throw PythonError{};
        }
        if (!a.device().HasHostMemory()) {
            PyErr_Format(PyExc_BufferError, "the array lives on %s, not in host memory; use chainerx.to_numpy",
                         a.device().name().c_str());
            throw PythonError{};
        }
        if (a.dtype() == Dtype::kBfloat16) {
            PyErr_SetString(PyExc_BufferError, "buffers have no format for bfloat16; use chainerx.to_numpy");
            throw PythonError{};
        }
        if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !a.IsContiguous()) {
            PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
            throw PythonError{};
        }
        if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && a.ndim() > 1) {
            PyErr_SetString(PyExc_BufferError, "the array is not in Fortran order");
            throw PythonError{};
        }
#define CHAINERX_X(type, name, kind, str, ch) {ch, '\0'},
        static constexpr char kFormats[][3] = {CHAINERX_DTYPES(CHAINERX_X){'Z', 'f'}, {'Z', 'd'}};
#undef CHAINERX_X
        // Shape and strides live in the body, which the view keeps alive.
        ArrayBody* body = a.body();
        view->buf = body->data;
        view->len = a.GetNBytes();
        view->itemsize = a.GetItemSize();
        view->readonly = 0;
        view->ndim = body->shape.ndim();
        view->format = const_cast<char*>(kFormats[static_cast<int>(body->dtype)]);
        view->shape = reinterpret_cast<Py_ssize_t*>(const_cast<int64_t*>(body->shape.data()));
        view->strides = reinterpret_cast<Py_ssize_t*>(const_cast<int64_t*>(body->strides.data()));
        view->suboffsets = nullptr;
        view->internal = nullptr;
        Py_INCREF(self);
        view->obj = self;
        return 0;
    });
}

void ReleaseBuffer(PyObject*, Py_buffer*) noexcept {}

namespace {

NumpyArray PyToNumpy(const Array& array, bool copy) { return ToNumpy(array, copy); }

// An array over memory at an address; `base` owns it and stays alive.
Array FromRawPointer(PyObject* pointer, const Shape& shape, Dtype dtype, const std::vector<int64_t>& strides,
                     Device& device, int64_t offset, PyObject* base) {
    void* data = PyLong_AsVoidPtr(pointer);
    if (data == nullptr && PyErr_Occurred()) throw PythonError{};
    if (static_cast<int64_t>(strides.size()) != shape.ndim()) {
        throw DimensionError{"_fromrawpointer: ", strides.size(), " strides were given for shape ", shape};
    }
    return ShareMemory(data, shape, Strides(strides.begin(), strides.end()), dtype, device, base, offset);
}

PyRef ToCupy(const Array& array) {
    CheckNoGraph(array, "conversion to CuPy");
    if (array.device().backend().name() != "cuda") {
        throw NotImplementedError{"_to_cupy: the array lives on ", array.device().name(),
                                  "; only arrays on CUDA devices share memory with CuPy"};
    }
    PyRef cupy = Check(PyImport_ImportModule("cupy"));
    return Check(PyObject_CallMethod(cupy.get(), "from_dlpack", "N", ToPython(array.AsDetached())));
}

// Pickling stores the contents and the name of the device, which is used if it exists at loading. Of a dtype that NumPy
// may lack, the contents are the bits.
Array RebuildArray(PyObject* values, const std::string& device, const std::optional<Dtype>& dtype) {
    Array a = ArrayFromObject(values, std::nullopt, GetDefaultContext().GetDevice(device));
    return dtype.has_value() ? ViewBits(a, *dtype) : a;
}

}  // namespace

void BindInterop() {
    Function<&PyToNumpy>("to_numpy", "array, copy=True", docs::kToNumpy);
    Function<&FromRawPointer>("_fromrawpointer", "data_ptr, shape, dtype, strides, device, offset, base",
                              "An array over memory at an address on a device, owned by ``base``.");
    Function<&ToCupy>("_to_cupy", "array", "The array as cupy.ndarray; it must live on a CUDA device.");
    Function<&RebuildArray>("_rebuild_array", "values, device, dtype=None", "Makes an array from its pickled state.");
}

}  // namespace chainerx::python
