#include "chainerx/python/methods.h"

#include <algorithm>
#include <complex>
#include <iterator>
#include <optional>
#include <string>
#include <variant>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/sorting.h"
#include "chainerx/python/autograd.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/doc.h"
#include "chainerx/python/docs/ndarray.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/with_out.h"

namespace chainerx::python {

Array MatmulArrays(const Array& a, const Array& b) { return Matmul(a, b); }

namespace {

// ---------------------------------------------------------------- methods

PyNumber Item(const Array& self) { return ItemOf(self); }
// The warning of NumPy.
void WarnOfLostParts() {
    PyRef numpy = Check(PyImport_ImportModule("numpy.exceptions"));
    PyRef warning = Check(PyObject_GetAttrString(numpy.get(), "ComplexWarning"));
    if (PyErr_WarnEx(warning.get(), "Casting complex values to real discards the imaginary part", 1) < 0) {
        throw PythonError{};
    }
}
Array ViewMethod(const Array& self) { return View(self); }
Array MaxMethod(const Array& self, const OptionalAxes& axis, bool keepdims) { return AMax(self, axis, keepdims); }
Array MinMethod(const Array& self, const OptionalAxes& axis, bool keepdims) { return AMin(self, axis, keepdims); }
Array AsTypeMethod(const Array& self, Dtype dtype, bool copy) {
    if (IsComplex(self.dtype()) && !IsComplex(dtype) && dtype != Dtype::kBool) WarnOfLostParts();
    return AsType(self, dtype, copy);
}
PyRef ComplexProtocol(const Array& self) {
    Scalar s = AsScalar(self);
    auto v = s.To<std::complex<double>>();
    return Check(PyComplex_FromDoubles(v.real(), v.imag()));
}
void FillMethod(const Array& self, const std::variant<Array, Scalar>& value) {
    Scalar s;
    if (const Array* array = std::get_if<Array>(&value)) {
        PyRef item = ItemOf(*array);
        TryScalar(item.get(), &s);
    } else {
        s = std::get<Scalar>(value);
    }
    Fill(self, s);
}
Array FlattenMethod(const Array& self) {
    Array flat = Ravel(self);
    return flat.body()->storage.get() == self.body()->storage.get() ? Copy(flat) : flat;
}
void SortMethod(const Array& self, int64_t axis) {
    internal::CheckInPlace(self, "sort");
    SetAt(self, {Ellipsis{}}, Sort(self.AsDetached(), axis));
}
// The numbers of an array for NumPy, which may lack bfloat16.
PyRef ToNumbers(const Array& a) {
    Array detached = a.AsDetached();
    return ToNumpy(a.dtype() == Dtype::kBfloat16 ? AsType(detached, Dtype::kFloat32) : detached, false);
}

PyRef ToList(const Array& self) {
    PyRef numpy = ToNumbers(self);
    return Check(PyObject_CallMethod(numpy.get(), "tolist", nullptr));
}
// `stream` is for other libraries: work is ordered by the current stream.
Array ToDeviceMethod(const Array& self, PyObject* device, std::optional<int> index, PyObject* stream) {
    if (stream != Py_None) ThrowValueError("stream must be None: copies run in the current stream of the thread");
    if (index.has_value()) {
        std::string name = Arg<std::string>::Get(device, "device");
        return ToDevice(self, self.context().GetBackend(name).GetDevice(*index));
    }
    return ToDevice(self, GetDeviceArg(device));
}
using Graphs = std::optional<std::vector<BackpropId>>;
Array StopGrad(const Array& self, bool copy, const Graphs& ids) {
    return ids.has_value() ? AsGradStopped(self, *ids, copy) : AsGradStopped(self, copy);
}
Array StopGradInGraphs(const Array& self, const Graphs& ids, bool copy) { return StopGrad(self, copy, ids); }
// as_grad_stopped(copy, backprop_ids) and as_grad_stopped(backprop_ids, copy).
PyObject* CallStopGrad(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return GuardFunction("as_grad_stopped", [&] {
        auto* call = nargs > 0 && IsSequence(args[0]) ? &Bound<&StopGradInGraphs>::CallMethod
                                                      : &Bound<&StopGrad>::CallMethod;
        return call(self, args, nargs, kwnames);
    });
}

Array RequireGradMethod(const Array& self, std::optional<BackpropId> id) { return self.RequireGrad(id); }
using GraphOrAny = std::variant<AnyGraph, std::optional<BackpropId>>;
bool IsGradRequiredMethod(const Array& self, const GraphOrAny& id) {
    if (std::holds_alternative<AnyGraph>(id)) ThrowTypeError("is_grad_required takes a backprop id");
    return self.IsGradRequired(std::get<std::optional<BackpropId>>(id));
}
bool IsBackpropRequiredMethod(const Array& self, const GraphOrAny& id) {
    if (std::holds_alternative<AnyGraph>(id)) return self.IsAnyBackpropRequired();
    return self.IsBackpropRequired(std::get<std::optional<BackpropId>>(id));
}
bool IsChained(const Array& self, std::optional<BackpropId> id) { return self.IsChained(id); }
std::optional<Array> GetGradMethod(const Array& self, std::optional<BackpropId> id) {
    Array grad = self.GetGrad(id);
    return grad ? std::optional<Array>{grad} : std::nullopt;
}
void SetGradMethod(const Array& self, std::optional<Array> grad, std::optional<BackpropId> id) {
    self.SetGrad(grad.value_or(Array{}), id);
}
void ClearGradMethod(const Array& self, std::optional<BackpropId> id) { self.ClearGrad(id); }
void BackwardMethod(const Array& self, std::optional<BackpropId> id, bool enable_double_backprop,
                    std::optional<double> loss_scale, bool retain_grad) {
    Backward(self, id, Options(enable_double_backprop, loss_scale, retain_grad));
}

Array CopyProtocol(const Array& self) { return AsGradStopped(self, true); }
Array DeepCopy(const Array& self, PyObject*) { return AsGradStopped(self, true); }
PyTuple GetState(const Array& self) {
    bool is_bfloat16 = self.dtype() == Dtype::kBfloat16;
    Array a = self.AsDetached();
    PyRef values = ToNumpy(is_bfloat16 ? ViewBits(a, Dtype::kUInt16) : a, false);
    PyRef device{ToPython(self.device().name())};
    if (!is_bfloat16) return Check(PyTuple_Pack(2, values.get(), device.get()));
    PyRef dtype = Check(PyUnicode_FromString(GetDtypeName(self.dtype())));
    return Check(PyTuple_Pack(3, values.get(), device.get(), dtype.get()));
}
// Numbers are formatted as Python's, other arrays only without a format.
std::string FormatProtocol(const Array& self, const std::string& format_spec) {
    PyRef text;
    if (format_spec.empty()) {
        text = Check(PyObject_Str(Check(ToPython(self)).get()));
    } else if (self.GetTotalSize() == 1) {
        PyRef format =
                Check(PyUnicode_FromStringAndSize(format_spec.data(), static_cast<Py_ssize_t>(format_spec.size())));
        text = Check(PyObject_Format(ItemOf(self).get(), format.get()));
    } else {
        throw TypeError{"the format '", format_spec, "' needs an array with one element, shape was ", self.shape()};
    }
    const char* data = PyUnicode_AsUTF8(text.get());
    if (data == nullptr) throw PythonError{};
    return data;
}

PyRef ArrayNamespace(const Array&, const std::optional<std::string>& api_version) {
    static constexpr const char* kVersions[] = {"2021.12", "2022.12", "2023.12", "2024.12"};
    if (api_version.has_value() &&
        std::find(std::begin(kVersions), std::end(kVersions), *api_version) == std::end(kVersions)) {
        throw ValueError{"api_version must be ", JoinWords(kVersions, std::size(kVersions), ", ", " or "), ", not '",
                         *api_version, "'"};
    }
    return Check(PyImport_ImportModule("chainerx.array_api"));
}

PyTuple Reduce(const Array& self) {
    PyRef module = Check(PyImport_ImportModule("chainerx._core"));
    PyRef rebuild = Check(PyObject_GetAttrString(module.get(), "_rebuild_array"));
    PyRef state = GetState(self);
    return Check(PyTuple_Pack(2, rebuild.get(), state.get()));
}
void SetState(PyObject* self, PyObject* state) {
    Py_ssize_t n = PyTuple_Check(state) ? PyTuple_GET_SIZE(state) : 0;
    if (n != 2 && !(n == 3 && PyUnicode_Check(PyTuple_GET_ITEM(state, 2)) != 0)) {
        ThrowTypeError("state must be what __getstate__ returns, a tuple of contents and device");
    }
    Device& device = GetDeviceArg(PyTuple_GET_ITEM(state, 1));
    Array a = ArrayFromObject(PyTuple_GET_ITEM(state, 0), std::nullopt, device, true);
    if (n == 3) a = ViewBits(a, GetDtypeArg(PyTuple_GET_ITEM(state, 2)));
    auto* o = reinterpret_cast<NdarrayObject*>(self);
    if (o->replaced == nullptr) o->replaced = new std::vector<Array>;
    o->replaced->push_back(o->array);
    o->array.body()->binding = nullptr;
    o->array = a;
    a.body()->binding = self;
}
// Called only if the buffer is refused; gives the reason.
NumpyArray ToNumpyProtocol(const Array& self, PyObject* dtype, PyObject* copy) {
    if (!self.device().HasHostMemory()) {
        throw DeviceError{"implicit conversion to NumPy: the array lives on ", self.device().name(),
                          ", not in host memory; use chainerx.to_numpy"};
    }
    CheckNoGraph(self, "implicit conversion to NumPy");
    PyRef numpy = ToNumpy(self, copy == Py_True);
    if (dtype == Py_None) return NumpyArray{numpy};
    return Check(PyObject_CallMethod(numpy.get(), "astype", "O", dtype));
}

// Methods that take separate arguments, or one tuple, possibly as a keyword.
template <Array (*Fn)(const Array&, PyObject*), const char* name>
PyObject* VarArgs(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords) {
    return Guard([&]() -> PyObject* {
        if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
            PyObject* keyword = PyTuple_GET_ITEM(keywords, 0);
            if (nargs + PyTuple_GET_SIZE(keywords) != 1 || PyUnicode_CompareWithASCIIString(keyword, name) != 0) {
                ThrowTypeError("got an unexpected keyword argument '%U' (only one argument, %s, can be named)", keyword,
                               name);
            }
            return ToPython(Fn(GetArray(self), args[0]));
        }
        if (nargs == 1 && !PyLong_Check(args[0])) return ToPython(Fn(GetArray(self), args[0]));
        PyRef tuple = Check(PyTuple_New(nargs));
        for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
        return ToPython(Fn(GetArray(self), tuple.get()));
    });
}
Array ReshapeArgs(const Array& self, PyObject* shape) { return Reshape(self, Arg<Shape>::Get(shape, "newshape")); }
Array TransposeArgs(const Array& self, PyObject* axes) {
    bool none = axes == Py_None || (PyTuple_Check(axes) && PyTuple_GET_SIZE(axes) == 0 && self.ndim() != 0);
    return Transpose(self, none ? OptionalAxes{} : OptionalAxes{Arg<Axes>::Get(axes, "axes")});
}

constexpr char kNewShape[] = "newshape";
constexpr char kAxes[] = "axes";

// ---------------------------------------------------------------- properties

template <class F>
PyObject* Property(PyObject* self, F&& f) {
    return Guard([&] { return f(GetArray(self)); });
}

// Keeps the Python object of the last device, because most programs use one device and read it often.
PyObject* DeviceToPython(Device& device) {
    static Device* last = nullptr;
    static PyObject* object = nullptr;
    if (&device != last) {
        PyRef found = Check(ToPython(device));
        last = &device;
        // The end of the other object may run code of the user that asks for a device.
        Py_XSETREF(object, Py_NewRef(found.get()));
        return found.release();
    }
    return Py_NewRef(object);
}

#define CHAINERX_PROPERTY(Name, expression)                                            \
    PyObject* Name(PyObject* self, void*) {                                            \
        return Property(self, [](const Array& a) -> PyObject* { return expression; }); \
    }
CHAINERX_PROPERTY(GetShape, ToTuple(a.shape()).release())
CHAINERX_PROPERTY(GetStrides, ToTuple(a.strides()).release())
CHAINERX_PROPERTY(GetDtypeProperty, Py_NewRef(GetNumpyDtype(a.dtype())))
CHAINERX_PROPERTY(GetDeviceProperty, DeviceToPython(a.device()))
CHAINERX_PROPERTY(GetNdim, PyLong_FromLong(a.ndim()))
CHAINERX_PROPERTY(GetSize, PyLong_FromLongLong(a.GetTotalSize()))
CHAINERX_PROPERTY(GetItemSizeProperty, PyLong_FromLongLong(a.GetItemSize()))
CHAINERX_PROPERTY(GetNBytesProperty, PyLong_FromLongLong(a.GetNBytes()))
CHAINERX_PROPERTY(GetOffset, PyLong_FromLongLong(a.offset()))
CHAINERX_PROPERTY(GetIsContiguous, PyBool_FromLong(a.IsContiguous()))
CHAINERX_PROPERTY(GetDataPtr, (NoteGraphBreak("the program looks into the memory of an array"),
                               PyLong_FromVoidPtr(a.body()->storage->data())))
CHAINERX_PROPERTY(GetDataSize, PyLong_FromSize_t(a.body()->storage->bytes()))
CHAINERX_PROPERTY(GetT, ToPython(Transpose(a)))
CHAINERX_PROPERTY(GetMatrixTranspose, ToPython(MatrixTranspose(a)))
CHAINERX_PROPERTY(GetGradProperty, ToPython(a.GetGrad()))
CHAINERX_PROPERTY(GetPriority, (static_cast<void>(a), PyFloat_FromDouble(kArrayPriority)))
#undef CHAINERX_PROPERTY

int SetGradProperty(PyObject* self, PyObject* value, void*) {
    return Guard(-1, [&] {
        const Array& a = GetArray(self);
        if (value == nullptr || value == Py_None) {
            a.ClearGrad();
        } else {
            a.SetGrad(Arg<Array>::Get(value, "grad"));
        }
        return 0;
    });
}

}  // namespace

PyGetSetDef* NdarrayGetSets() {
    static PyGetSetDef defs[] = {
            {"shape", &GetShape, nullptr, KeepDoc(docs::kShape), nullptr},
            {"strides", &GetStrides, nullptr, KeepDoc(docs::kStrides), nullptr},
            {"dtype", &GetDtypeProperty, nullptr, KeepDoc(docs::kDtype), nullptr},
            {"device", &GetDeviceProperty, nullptr, KeepDoc(docs::kArrayDevice), nullptr},
            {"ndim", &GetNdim, nullptr, KeepDoc(docs::kNdim), nullptr},
            {"size", &GetSize, nullptr, KeepDoc(docs::kSize), nullptr},
            {"itemsize", &GetItemSizeProperty, nullptr, KeepDoc(docs::kItemSize), nullptr},
            {"nbytes", &GetNBytesProperty, nullptr, KeepDoc(docs::kNBytes), nullptr},
            {"offset", &GetOffset, nullptr, KeepDoc(docs::kOffset), nullptr},
            {"is_contiguous", &GetIsContiguous, nullptr, KeepDoc(docs::kIsContiguous), nullptr},
            {"data_ptr", &GetDataPtr, nullptr, KeepDoc(docs::kDataPtr), nullptr},
            {"data_size", &GetDataSize, nullptr, KeepDoc(docs::kDataSize), nullptr},
            {"T", &GetT, nullptr, KeepDoc(docs::kT), nullptr},
            {"mT", &GetMatrixTranspose, nullptr, KeepDoc(docs::kMatrixTranspose), nullptr},
            {"grad", &GetGradProperty, &SetGradProperty, KeepDoc(docs::kGradProperty), nullptr},
            {"__array_priority__", &GetPriority, nullptr, nullptr, nullptr},
            {nullptr, nullptr, nullptr, nullptr, nullptr},
    };
    return defs;
}

void AddNdarrayMethods() {
    Method<&Item>("item", "self", docs::kItem);
    Method<&ViewMethod>("view", "self", docs::kView);
    Method<&AsTypeMethod>("astype", "self, dtype, copy=True", docs::kAsType);
    Method<&FillMethod>("fill", "self, value", docs::kFill);
    Method<&FlattenMethod>("flatten", "self", docs::kFlatten);
    Method<&SortMethod>("sort", "self, axis=-1", docs::kSortMethod);
    Method<&ToList>("tolist", "self", docs::kToList);
    Method<&ToDeviceMethod>("to_device", "self, device, index=None, stream=None", docs::kToDevice);
    Bound<&StopGradInGraphs>::signature = Signature{"as_grad_stopped", "self, backprop_ids, copy=False", 3};
    Bound<&StopGrad>::signature = Signature{"as_grad_stopped", "self, copy=False, backprop_ids=None", 3};
    AddFunction({"ndarray",
                 nullptr,
                 {"as_grad_stopped", "self, copy=False, backprop_ids=None", "", docs::kAsGradStopped, true},
                 [] { return std::vector<std::string>{"ndarray", "Any", "Any", "ndarray"}; }},
                nullptr, &CallStopGrad);
    Method<&RequireGradMethod>("require_grad", "self, backprop_id=None", docs::kRequireGrad);
    Method<&IsGradRequiredMethod>("is_grad_required", "self, backprop_id=None", docs::kIsGradRequired);
    Method<&IsBackpropRequiredMethod>("is_backprop_required", "self, backprop_id=None", docs::kArrayIsBackpropRequired);
    Method<&IsChained>("_is_chained", "self, backprop_id=None",
                       "Whether the array was computed from others in the graph.");
    Method<&GetGradMethod>("get_grad", "self, backprop_id=None", docs::kGetGrad);
    Method<&SetGradMethod>("set_grad", "self, grad, backprop_id=None", docs::kSetGrad);
    Method<&ClearGradMethod>("cleargrad", "self, backprop_id=None", docs::kClearGrad);
    Method<&BackwardMethod>("backward",
                            "self, backprop_id=None, enable_double_backprop=False, loss_scale=None, retain_grad=False",
                            docs::kArrayBackward);
    Method<&CopyProtocol>("__copy__", "self", "A copy outside graphs.");
    Method<&DeepCopy>("__deepcopy__", "self, memo=None", "A copy outside graphs.");
    Method<&Reduce>("__reduce__", "self", "For pickling: contents and device, no graph.");
    Method<&GetState>("__getstate__", "self", "Contents and device.");
    Method<&SetState>("__setstate__", "self, state", "Restores contents and device.");
    Method<&ToNumpyProtocol>("__array__", "self, dtype=None, copy=None",
                             "Conversion to NumPy; refused for an array of a graph, or outside of host memory.");
    Method<&ArrayNamespace>("__array_namespace__", "self, api_version=None", docs::kArrayNamespace);
    Method<&ComplexProtocol>("__complex__", "self", "The only element as a number of Python.");
    Method<&FormatProtocol>("__format__", "self, format_spec", "The text of the only element in a format.");
    Method<&WithOut<&MaxMethod>::Call>("max", "self, axis=None, keepdims=False, out=None", docs::kMaxMethod);
    Method<&WithOut<&MinMethod>::Call>("min", "self, axis=None, keepdims=False, out=None", docs::kMinMethod);
    MethodDefs().push_back(
            {"reshape", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&VarArgs<&ReshapeArgs, kNewShape>)),
             METH_FASTCALL | METH_KEYWORDS, KeepDoc(docs::kReshapeMethod)});
    MethodDefs().push_back(
            {"transpose", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&VarArgs<&TransposeArgs, kAxes>)),
             METH_FASTCALL | METH_KEYWORDS, KeepDoc(docs::kTransposeMethod)});
    MethodDefs().push_back({nullptr, nullptr, 0, nullptr});
}

namespace {

// Four digits tell all numbers of bfloat16 apart.
PyRef Bfloat16Format() {
    PyRef digits = Check(PyUnicode_FromString("{:.4g}"));
    return Check(PyObject_GetAttrString(digits.get(), "format"));
}

}  // namespace

PyObject* Repr(PyObject* self) {
    return Guard([&]() -> PyObject* {
        const Array& a = GetArray(self);
        PyRef numpy = Check(PyImport_ImportModule("numpy"));
        PyRef values = ToNumbers(a);
        PyRef function = Check(PyObject_GetAttrString(numpy.get(), "array2string"));
        PyRef args = Check(PyTuple_Pack(1, values.get()));
        PyRef kwargs = Check(Py_BuildValue("{s:s,s:s,s:s}", "separator", ", ", "prefix", "array(", "suffix", ","));
        if (a.dtype() == Dtype::kBfloat16) {
            PyRef formatter = Check(Py_BuildValue("{s:N}", "float_kind", Bfloat16Format().release()));
            if (PyDict_SetItemString(kwargs.get(), "formatter", formatter.get()) < 0) throw PythonError{};
        }
        std::string text = "[]";
        if (a.GetTotalSize() != 0) {
            PyRef body = Check(PyObject_Call(function.get(), args.get(), kwargs.get()));
            text = GetText(body.get());
        }
        std::string out = internal::Concat("array(", text, ", shape=", a.shape(), ", dtype=", a.dtype(), ", device='",
                                           a.device().name(), "'");
        if (a.IsAnyBackpropRequired()) out += ", backprop_ids=" + GraphNames(a);
        return ToPython(out + ")");
    });
}

// A number in place of an array without dimensions.
PyObject* Str(PyObject* self) {
    return Guard([&]() -> PyObject* {
        const Array& a = GetArray(self);
        if (a.ndim() != 0) return Repr(self);
        PyRef value = ToNumbers(a);
        if (a.dtype() != Dtype::kBfloat16) return PyObject_Str(value.get());
        return PyObject_CallFunctionObjArgs(Bfloat16Format().get(), value.get(), nullptr);
    });
}

}  // namespace chainerx::python
