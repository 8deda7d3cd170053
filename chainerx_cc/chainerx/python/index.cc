#include "chainerx/python/index.h"

#include "chainerx/ops/manipulation.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

std::optional<int64_t> SliceBound(PyObject* o) {
    if (o == Py_None) return std::nullopt;
    if (!PyIndex_Check(o)) ThrowTypeError("slice bound must be an integer or None, not %s", Py_TYPE(o)->tp_name);
    Py_ssize_t v = PyNumber_AsSsize_t(o, nullptr);  // clamped if it does not fit
    if (v == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    return v;
}

ArrayIndex GetIndex(PyObject* o, const Array& a) {
    if (o == Py_None) return NewAxis{};
    if (o == Py_Ellipsis) return Ellipsis{};
    if (PySlice_Check(o)) {
        auto* s = reinterpret_cast<PySliceObject*>(o);
        return Slice{SliceBound(s->start), SliceBound(s->stop), SliceBound(s->step)};
    }
    if (IsNdarray(o))
        return GetArray(o).ndim() == 0 && IsInteger(GetArray(o).dtype()) ? ArrayIndex{GetIntArg(o, "index")}
                                                                         : ArrayIndex{GetArray(o)};
    if (PyIndex_Check(o) && !PyBool_Check(o)) {
        PyRef i{PyNumber_Index(o)};
        if (i) return GetIntArg(i.get(), "index");
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
        PyErr_Clear();  // a NumPy array has the slot too
    }
    if (PyList_Check(o) || PyTuple_Check(o) || PyObject_CheckBuffer(o)) {
        Array index = ArrayFromObject(o, std::nullopt, a.device());
        // An empty list has no dtype of its own.
        if (index.GetTotalSize() == 0 && !IsNumpyArray(o)) index = AsType(index, Dtype::kInt64, false);
        return index;
    }
    throw IndexError{
            "only integers, slices (:), ellipsis (...), None and integer or boolean arrays are valid indices, not ",
            Py_TYPE(o)->tp_name};
}

}  // namespace

ArrayIndices GetIndices(PyObject* key, const Array& a) {
    ArrayIndices out;
    if (!PyTuple_Check(key)) {
        out.push_back(GetIndex(key, a));
        return out;
    }
    out.reserve(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) out.push_back(GetIndex(PyTuple_GET_ITEM(key, i), a));
    return out;
}

}  // namespace chainerx::python
