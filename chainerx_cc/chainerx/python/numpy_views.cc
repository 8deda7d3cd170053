// Views with which chainer's functions of NumPy arrays run on kernels: of the inputs as ChainerX arrays, and of the
// outputs as NumPy arrays.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/python/autograd.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/object.h"

namespace py = pybind11;

namespace chainerx::python {
namespace {

using NumpyApi = py::detail::npy_api;

// The dtype of NumPy's integers that are of a type of C.
template <class T>
constexpr Dtype IntDtype() {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if (std::is_unsigned_v<T>) return sizeof(T) == 4 ? Dtype::kUInt32 : Dtype::kUInt64;
    return sizeof(T) == 4 ? Dtype::kInt32 : Dtype::kInt64;
}

std::optional<Dtype> FromDescriptor(PyObject* descriptor) {
    const py::detail::PyArrayDescr_Proxy* d = py::detail::array_descriptor_proxy(descriptor);
    if (d->byteorder != '=' && d->byteorder != '|') return std::nullopt;
    switch (d->type_num) {
        case NumpyApi::NPY_BOOL_:
            return Dtype::kBool;
        case NumpyApi::NPY_BYTE_:
            return Dtype::kInt8;
        case NumpyApi::NPY_UBYTE_:
            return Dtype::kUInt8;
        case NumpyApi::NPY_SHORT_:
            return Dtype::kInt16;
        case NumpyApi::NPY_USHORT_:
            return Dtype::kUInt16;
        case NumpyApi::NPY_INT_:
            return IntDtype<int>();
        case NumpyApi::NPY_UINT_:
            return IntDtype<unsigned>();
        case NumpyApi::NPY_LONG_:
            return IntDtype<long>();  // NOLINT: NumPy's own type
        case NumpyApi::NPY_ULONG_:
            return IntDtype<unsigned long>();  // NOLINT
        case NumpyApi::NPY_LONGLONG_:
            return IntDtype<long long>();  // NOLINT
        case NumpyApi::NPY_ULONGLONG_:
            return IntDtype<unsigned long long>();  // NOLINT
        case 23:                                    // NPY_HALF
            return Dtype::kFloat16;
        case NumpyApi::NPY_FLOAT_:
            return Dtype::kFloat32;
        case NumpyApi::NPY_DOUBLE_:
            return Dtype::kFloat64;
        default:
            return IsBfloat16Dtype(descriptor) ? std::optional{Dtype::kBfloat16} : std::nullopt;
    }
}

// A view of a NumPy array; no array if it is unusual in any way: empty, misaligned, read-only (broadcast arrays are), a
// mirror image.
Array View(PyObject* o, Device& device) {
    constexpr int kUsual = NumpyApi::NPY_ARRAY_ALIGNED_ | NumpyApi::NPY_ARRAY_WRITEABLE_;
    if (Py_TYPE(o) != NumpyApi::get().PyArray_Type_) return Array{};
    const py::detail::PyArray_Proxy* a = py::detail::array_proxy(o);
    if ((a->flags & kUsual) != kUsual || a->nd > kMaxNdim) return Array{};
    std::optional<Dtype> dtype = FromDescriptor(a->descr);
    if (!dtype.has_value()) return Array{};
    Shape shape(a->dimensions, a->dimensions + a->nd);
    if (shape.GetTotalSize() == 0) return Array{};
    Strides strides{shape, GetItemSize(*dtype)};
    if ((a->flags & NumpyApi::NPY_ARRAY_C_CONTIGUOUS_) == 0) {
        strides = Strides(a->strides, a->strides + a->nd);
        if (std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride < 0; })) return Array{};
    }
    return ShareMemory(a->data, shape, strides, *dtype, device, o);
}

// The device of views. It belongs to the first context, which lives as long as the process. Their graph is the default
// graph of that context, even if another context is the default now.
Device* g_device;

// Views of all arrays. An array is in the graph if its element of `requires_grad` is true and its dtype is floating
// point. None if an array is unusual, if floating point dtypes differ, or if nothing would be recorded.
PyRef Views(PyObject* arrays, PyObject* requires_grad) {
    PyRef objects = Check(PySequence_Fast(arrays, "arrays must be a sequence"));
    PyRef flags = Check(PySequence_Fast(requires_grad, "requires_grad must be a sequence"));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(objects.get());
    auto check_lengths = [&] {
        if (PySequence_Fast_GET_SIZE(objects.get()) != n || PySequence_Fast_GET_SIZE(flags.get()) != n) {
            ThrowValueError("requires_grad must be as long as arrays");
        }
    };
    check_lengths();
    std::optional<Dtype> float_dtype;
    bool records = false;
    PyRef views = Check(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        Array view = View(PySequence_Fast_GET_ITEM(objects.get(), i), *g_device);
        if (!view) return PyRef::Borrow(Py_None);
        if (IsFloat(view.dtype())) {
            if (float_dtype.value_or(view.dtype()) != view.dtype()) return PyRef::Borrow(Py_None);
            float_dtype = view.dtype();
            PyRef flag = PyRef::Borrow(PySequence_Fast_GET_ITEM(flags.get(), i));
            int is_required = PyObject_IsTrue(flag.get());
            if (is_required < 0) throw PythonError{};
            check_lengths();  // again, as this may have run code of the user
            if (is_required == 1) {
                view.RequireGrad();
                records = true;
            }
        }
        PyTuple_SET_ITEM(views.get(), i, Check(ToPython(std::move(view))).release());
    }
    if (records && !IsBackpropRequired(g_device->context())) return PyRef::Borrow(Py_None);
    return views;
}

// A view of an array as a NumPy array in C order; None for no array.
py::object ToNumpyView(const Array& array) {
    if (!array) return py::none();
    Array a = array.AsDetached();
    if (!a.IsContiguous()) a = Copy(a);
    auto owner = py::reinterpret_steal<py::object>(Check(ToPython(a)).release());
    const ArrayBody& body = *a.body();
    return py::array{py::reinterpret_borrow<py::dtype>(GetNumpyDtype(a.dtype())),
                     std::vector<py::ssize_t>(body.shape.begin(), body.shape.end()),
                     std::vector<py::ssize_t>(body.strides.begin(), body.strides.end()), body.data, owner};
}

bool ShareStorage(const Array& a, const Array& b) {
    return a && b && a.body()->storage.get() == b.body()->storage.get();
}

// NumPy arrays may be changed in place, so none may share memory with another one or with those of `others`.
PyTuple ToSeparateViews(std::vector<Array> arrays, const std::vector<Array>& others) {
    PyRef out = Check(PyTuple_New(static_cast<Py_ssize_t>(arrays.size())));
    for (size_t i = 0; i < arrays.size(); ++i) {
        Array& a = arrays[i];
        auto shares = [&](const Array& b) { return ShareStorage(a, b); };
        if (std::any_of(arrays.begin(), arrays.begin() + i, shares) ||
            std::any_of(others.begin(), others.end(), shares)) {
            a = Copy(a.AsDetached());
        }
        PyTuple_SET_ITEM(out.get(), i, ToNumpyView(a).release().ptr());
    }
    return out;
}

// A gradient as an array. It may have any layout and is often broadcast.
Array GradientView(PyObject* o) {
    if (o == Py_None) return Array{};
    Array view = View(o, *g_device);
    return view ? view : ArrayFromObject(o, std::nullopt, *g_device);
}

std::vector<Array> GradientViews(PyObject* grads, const char* name) {
    std::vector<Array> views;
    ForEachItem(grads, name, [&views](PyObject* grad) { views.push_back(GradientView(grad)); });
    return views;
}

}  // namespace

// A part of a graph, which may outlive its arrays.
struct SubgraphOfContext {
    Subgraph graph;
    ContextPtr context;
};

template <>
struct Arg<SubgraphOfContext> {
    static std::string Type() { return "_Subgraph"; }
    static const SubgraphOfContext& Get(PyObject* o, const char* name) {
        return ValueArg<SubgraphOfContext>(o, name, "a _Subgraph");
    }
};
template <>
struct ResultType<SubgraphOfContext> {
    static std::string Text() { return "_Subgraph"; }
};

PyObject* ToPython(SubgraphOfContext graph) { return MakeObject(std::move(graph)).release(); }

namespace {

PyTuple NumpyGrad(const SubgraphOfContext& self, const std::vector<int64_t>& indexes, PyObject* grad_outputs) {
    std::vector<Array> gys = GradientViews(grad_outputs, "grad_outputs");
    return ToSeparateViews(self.graph.Grad(indexes, gys, false), gys);
}

std::vector<Array> ArrayGrad(const SubgraphOfContext& self, const std::vector<int64_t>& indexes, PyObject* grad_outputs,
                             bool recorded) {
    return self.graph.Grad(indexes, WithNone(grad_outputs, "grad_outputs"), recorded);
}

SubgraphOfContext OfGradients(const SubgraphOfContext& self, PyObject* grad_outputs, PyObject* grad_inputs) {
    return {self.graph.OfGradients(WithNone(grad_outputs, "grad_outputs"), WithNone(grad_inputs, "grad_inputs")),
            self.context};
}

bool IsRecorded(const Array& a) { return a && a.body()->node() != nullptr; }

// The graph of outputs, or None if nothing was recorded.
PyRef GraphOf(const std::vector<Array>& xs, const std::vector<Array>& ys) {
    auto recorded = std::find_if(ys.begin(), ys.end(), IsRecorded);
    if (recorded == ys.end()) return PyRef::Borrow(Py_None);
    return PyRef{MakeObject(SubgraphOfContext{Subgraph{xs, ys}, Context::Share(&recorded->context())})};
}

PyRef GraphOfArrays(PyObject* inputs, PyObject* outputs) {
    return GraphOf(WithNone(inputs, "inputs"), WithNone(outputs, "outputs"));
}

// NumPy views of outputs, and their graph.
PyTuple Outputs(PyObject* inputs, PyObject* outputs) {
    std::vector<Array> xs = WithNone(inputs, "inputs");
    std::vector<Array> ys = WithNone(outputs, "outputs");
    PyRef graph = GraphOf(xs, ys);
    PyTuple views = ToSeparateViews(ys, xs);
    return Check(PyTuple_Pack(2, views.get(), graph.get()));
}

std::vector<Array> Gradients(PyObject* grads) { return GradientViews(grads, "grads"); }

}  // namespace

void BindNumpyViews() {
    Function<&Outputs>("_numpy_outputs", "inputs, outputs", "NumPy views of outputs, and the graph behind them.");
    Function<&GraphOfArrays>("_subgraph", "inputs, outputs", "The graph from inputs to outputs, if there is one.");
    Function<&Gradients>("_numpy_gradients", "grads", "ChainerX arrays of NumPy gradients.");
    Function<&Views>("_numpy_views", "arrays, requires_grad",
                     "Views of NumPy arrays, or None if there is anything unusual about them.");
}

void AddSubgraph(PyObject* module) {
    g_device = &GetGlobalDefaultContext().GetDevice("native:0");
    Class<SubgraphOfContext>{"_Subgraph", "A part of the default graph, to be differentiated later."}
            .Method<&NumpyGrad>("numpy_grad", "self, indexes, grad_outputs",
                                "Gradients of the inputs with these indexes, on NumPy arrays.")
            .Method<&ArrayGrad>("grad", "self, indexes, grad_outputs, recorded=True", "The same on ChainerX arrays.")
            .Method<&OfGradients>("of_gradients", "self, grad_outputs, grad_inputs",
                                  "The part from the inputs and grad_outputs to grad_inputs, which grad() gave.")
            .Add(module);
}

}  // namespace chainerx::python
