#include "chainerx/python/ndarray.h"

#include <structmember.h>

#include <new>

#include "chainerx/autograd/graph.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/doc.h"
#include "chainerx/python/docs/ndarray.h"
#include "chainerx/python/index.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/methods.h"

namespace chainerx::python {

PyTypeObject* g_ndarray_type;

namespace {

// Objects kept for reuse; guarded by the GIL.
constexpr int kMaxFree = 256;
NdarrayObject* g_free[kMaxFree];
int g_free_count = 0;

void Dealloc(PyObject* self) {
    auto* o = reinterpret_cast<NdarrayObject*>(self);
    // Before anything else: the code below may make another object for the array.
    if (ArrayBody* body = o->array.body()) {
        body->binding = nullptr;
        ArrayNode* node = body->node();
        if (node != nullptr && node->HasGradEntry()) node->DropRetainedGrads();
    }
    if (o->weakrefs != nullptr) PyObject_ClearWeakRefs(self);
    delete o->replaced;
    o->array.~Array();
    if (g_free_count < kMaxFree) {
        g_free[g_free_count++] = o;
        return;
    }
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject* New(PyTypeObject*, PyObject* args, PyObject* kwargs) {
    return Guard([&]() -> PyObject* {
        static const char* const kNames[] = {"shape", "dtype", "device", nullptr};
        PyObject* shape = nullptr;
        PyObject* dtype = Py_None;
        PyObject* device = Py_None;
        if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:ndarray", const_cast<char**>(kNames), &shape, &dtype,
                                        &device) == 0) {
            throw PythonError{};
        }
        return ToPython(Uninitialized(Arg<Shape>::Get(shape, kNames[0]),
                                      Arg<std::optional<Dtype>>::Get(dtype, kNames[1]), GetDeviceArg(device)));
    });
}

// Each array has at most one object, so the identity of the object is that of the array. The lowest bits of all
// addresses are equal.
Py_hash_t Hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4U); }

// ---------------------------------------------------------------- operators

// Whether an operand claims the operators by a higher priority than ndarray's, as a variable of Chainer does.
bool HasOperators(PyObject* other) {
    PyRef priority{PyObject_GetAttrString(other, "__array_priority__")};
    if (!priority) {
        PyErr_Clear();
        return false;
    }
    const double value = PyFloat_AsDouble(priority.get());
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    return value > kArrayPriority;
}

// Leaves an operator to the other operand. Raises for arrays of other libraries, which have no operators for these
// arrays: Python's messages would mislead, and comparisons would compare identities.
PyObject* NotImplemented(PyObject* a, PyObject* b) {
    PyTypeObject* x = Py_TYPE(a);
    PyTypeObject* y = Py_TYPE(b);
    PyObject* other = reinterpret_cast<PyObject*>(x == g_ndarray_type ? y : x);
    if (!PyObject_HasAttrString(other, "__array__") || HasOperators(other)) Py_RETURN_NOTIMPLEMENTED;
    ThrowTypeError("unsupported operand types: '%s' and '%s': convert one with chainerx.asarray or chainerx.to_numpy",
                   x->tp_name, y->tp_name);
}

// The right operand of an operator. An array of NumPy goes to the device of the left one, and `kept` holds it.
bool TryRightOperand(PyObject* a, PyObject* b, Operand* out, Array* kept) {
    if (TryOperand(b, out)) return true;
    if (!IsNdarray(a) || !IsNumpyArray(b)) return false;
    *kept = ArrayFromObject(b, std::nullopt, GetArray(a).device(), false);
    *out = Operand{*kept};
    return true;
}

template <class Op>
PyObject* Binary(PyObject* a, PyObject* b) {
    return Guard([&]() -> PyObject* {
        if (CHAINERX_LIKELY(IsNdarray(a) && IsNdarray(b))) return ToPython(Op::Call(GetArray(a), GetArray(b)));
        Operand x;
        Operand y;
        Array kept;
        if (!TryOperand(a, &x) || !TryRightOperand(a, b, &y, &kept)) return NotImplemented(a, b);
        return ToPython(Op::Call(x, y));
    });
}

template <class Op>
PyObject* InPlace(PyObject* a, PyObject* b) {
    return Guard([&]() -> PyObject* {
        Operand y;
        Array kept;
        if (!TryRightOperand(a, b, &y, &kept)) Py_RETURN_NOTIMPLEMENTED;
        Op::CallInPlace(GetArray(a), y);
        return Py_NewRef(a);
    });
}

template <class Op>
PyObject* Unary(PyObject* a) {
    return Guard([&] { return ToPython(Op::Call(GetArray(a))); });
}

PyObject* PowerSlot(PyObject* a, PyObject* b, PyObject* modulus) {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    return Guard([&]() -> PyObject* {
        Operand x;
        Operand y;
        Array kept;
        if (!TryOperand(a, &x) || !TryRightOperand(a, b, &y, &kept)) return NotImplemented(a, b);
        if (!y.is_array() && y.scalar().kind() != DtypeKind::kComplex && static_cast<double>(y.scalar()) == 2.0 &&
            x.array().dtype() != Dtype::kBool &&
            (IsInexact(x.array().dtype()) || y.scalar().kind() == DtypeKind::kInt)) {
            return ToPython(Square(x.array()));
        }
        return ToPython(Power(x, y));
    });
}
PyObject* InPlacePower(PyObject* a, PyObject* b, PyObject*) { return InPlace<ops::Power>(a, b); }

PyObject* Positive(PyObject* a) {
    return Guard([&] { return ToPython(View(GetArray(a))); });
}

PyObject* Matmul(PyObject* a, PyObject* b);

int Bool(PyObject* a) {
    return Guard(-1, [&] {
        const Array& x = GetArray(a);
        if (x.GetTotalSize() == 0) throw DimensionError{"the truth value of an empty array is not defined"};
        if (x.GetTotalSize() != 1) {
            throw DimensionError{
                    "the truth value of an array with more than one element is ambiguous; use any() or all()"};
        }
        PyRef item = ItemOf(x);
        return PyObject_IsTrue(item.get());
    });
}
PyObject* Int(PyObject* a) {
    return Guard([&] { return PyNumber_Long(ItemOf(GetArray(a)).get()); });
}
PyObject* Float(PyObject* a) {
    return Guard([&] { return PyNumber_Float(ItemOf(GetArray(a)).get()); });
}
PyObject* Index(PyObject* a) {
    return Guard([&]() -> PyObject* {
        const Array& x = GetArray(a);
        if (x.ndim() != 0 || !IsInteger(x.dtype())) {
            ThrowTypeError("only integer arrays without dimensions can be an index");
        }
        return ItemOf(x).release();
    });
}

PyObject* RichCompare(PyObject* a, PyObject* b, int op) {
    switch (op) {
        case Py_EQ:
            return Binary<ops::Equal>(a, b);
        case Py_NE:
            return Binary<ops::NotEqual>(a, b);
        case Py_LT:
            return Binary<ops::Less>(a, b);
        case Py_LE:
            return Binary<ops::LessEqual>(a, b);
        case Py_GT:
            return Binary<ops::Greater>(a, b);
        default:
            return Binary<ops::GreaterEqual>(a, b);
    }
}

Py_ssize_t Length(PyObject* a) {
    return Guard(Py_ssize_t{-1}, [&] {
        const Array& x = GetArray(a);
        if (x.ndim() == 0) ThrowTypeError("len() of an array without dimensions");
        return static_cast<Py_ssize_t>(x.shape()[0]);
    });
}

PyObject* GetItem(PyObject* a, PyObject* key) {
    return Guard([&] { return ToPython(At(GetArray(a), GetIndices(key, GetArray(a)))); });
}

PyObject* GetSequenceItem(PyObject* a, Py_ssize_t i) {
    return Guard([&]() -> PyObject* {
        const Array& x = GetArray(a);
        if (x.ndim() > 0 && i >= x.shape()[0]) {
            // The end of each loop over an array comes here: a C++ exception would take longer than an item.
            PyErr_SetString(PyExc_IndexError, "the index is out of bounds");
            return nullptr;
        }
        return ToPython(At(x, {static_cast<int64_t>(i)}));
    });
}

int SetItem(PyObject* a, PyObject* key, PyObject* value) {
    return Guard(-1, [&] {
        if (value == nullptr) ThrowTypeError("elements of an array cannot be deleted");
        const Array& x = GetArray(a);
        Array v;
        Scalar s;
        if (IsNdarray(value)) {
            v = GetArray(value);
        } else if (TryScalar(value, &s)) {
            CheckScalarFits(s, x.dtype());
            v = Full({}, s, x.dtype(), x.device());
        } else {
            v = ArrayFromObject(value, x.dtype(), x.device());
        }
        SetAt(x, GetIndices(key, x), v);
        return 0;
    });
}

PyObject* Iterate(PyObject* a) {
    return Guard([&]() -> PyObject* {
        if (GetArray(a).ndim() == 0) ThrowTypeError("an array without dimensions cannot be iterated over");
        return PySeqIter_New(a);
    });
}

int Contains(PyObject* a, PyObject* value) {
    PyRef hits{Binary<ops::Equal>(a, value)};
    if (!hits) return -1;
    if (!IsNdarray(hits.get())) return 0;
    return Guard(-1, [&] {
        PyRef any = Check(PyObject_CallMethod(hits.get(), "any", nullptr));
        return PyObject_IsTrue(any.get());
    });
}

template <class F>
void* Slot(F* f) {
    return reinterpret_cast<void*>(f);
}

}  // namespace

PyObject* ToPython(Array a) {
    ArrayBody* body = a.body();
    if (body == nullptr) Py_RETURN_NONE;
    if (body->binding != nullptr) return Py_NewRef(static_cast<PyObject*>(body->binding));
    NdarrayObject* o;
    if (g_free_count > 0) {
        o = g_free[--g_free_count];
        // Keeps its reference to the type.
        Py_SET_REFCNT(reinterpret_cast<PyObject*>(o), 1);
    } else {
        o = PyObject_New(NdarrayObject, g_ndarray_type);
        if (o == nullptr) return nullptr;
    }
    new (&o->array) Array{std::move(a)};
    o->weakrefs = nullptr;
    o->replaced = nullptr;
    body->binding = o;
    return reinterpret_cast<PyObject*>(o);
}

namespace {

PyObject* Matmul(PyObject* a, PyObject* b) {
    return Guard([&]() -> PyObject* {
        if (!IsNdarray(a) || !IsNdarray(b)) Py_RETURN_NOTIMPLEMENTED;
        return ToPython(MatmulArrays(GetArray(a), GetArray(b)));
    });
}

}  // namespace

void InitNdarray(PyObject* module) {
    AddNdarrayMethods();
    static PyMemberDef members[] = {
            {"__weaklistoffset__", T_PYSSIZET, offsetof(NdarrayObject, weakrefs), READONLY, nullptr}, {}};
    static PyType_Slot slots[] = {
            {Py_tp_doc, const_cast<char*>(KeepDoc(docs::kNdarray))},
            {Py_tp_dealloc, Slot(&Dealloc)},
            {Py_tp_new, Slot(&New)},
            {Py_tp_repr, Slot(&Repr)},
            {Py_tp_str, Slot(&Str)},
            {Py_tp_hash, Slot(&Hash)},
            {Py_tp_richcompare, Slot(&RichCompare)},
            {Py_tp_iter, Slot(&Iterate)},
            {Py_tp_methods, MethodDefs().data()},
            {Py_tp_getset, NdarrayGetSets()},
            {Py_tp_members, members},
            {Py_nb_add, Slot(&Binary<ops::Add>)},
            {Py_nb_subtract, Slot(&Binary<ops::Subtract>)},
            {Py_nb_multiply, Slot(&Binary<ops::Multiply>)},
            {Py_nb_true_divide, Slot(&Binary<ops::Divide>)},
            {Py_nb_floor_divide, Slot(&Binary<ops::FloorDivide>)},
            {Py_nb_remainder, Slot(&Binary<ops::Remainder>)},
            {Py_nb_power, Slot(&PowerSlot)},
            {Py_nb_matrix_multiply, Slot(&Matmul)},
            {Py_nb_and, Slot(&Binary<ops::BitwiseAnd>)},
            {Py_nb_or, Slot(&Binary<ops::BitwiseOr>)},
            {Py_nb_xor, Slot(&Binary<ops::BitwiseXor>)},
            {Py_nb_lshift, Slot(&Binary<ops::LeftShift>)},
            {Py_nb_rshift, Slot(&Binary<ops::RightShift>)},
            {Py_nb_inplace_add, Slot(&InPlace<ops::Add>)},
            {Py_nb_inplace_subtract, Slot(&InPlace<ops::Subtract>)},
            {Py_nb_inplace_multiply, Slot(&InPlace<ops::Multiply>)},
            {Py_nb_inplace_true_divide, Slot(&InPlace<ops::Divide>)},
            {Py_nb_inplace_floor_divide, Slot(&InPlace<ops::FloorDivide>)},
            {Py_nb_inplace_remainder, Slot(&InPlace<ops::Remainder>)},
            {Py_nb_inplace_power, Slot(&InPlacePower)},
            {Py_nb_inplace_and, Slot(&InPlace<ops::BitwiseAnd>)},
            {Py_nb_inplace_or, Slot(&InPlace<ops::BitwiseOr>)},
            {Py_nb_inplace_xor, Slot(&InPlace<ops::BitwiseXor>)},
            {Py_nb_inplace_lshift, Slot(&InPlace<ops::LeftShift>)},
            {Py_nb_inplace_rshift, Slot(&InPlace<ops::RightShift>)},
            {Py_nb_negative, Slot(&Unary<ops::Negative>)},
            {Py_nb_positive, Slot(&Positive)},
            {Py_nb_absolute, Slot(&Unary<ops::Absolute>)},
            {Py_nb_invert, Slot(&Unary<ops::Invert>)},
            {Py_nb_bool, Slot(&Bool)},
            {Py_nb_int, Slot(&Int)},
            {Py_nb_float, Slot(&Float)},
            {Py_nb_index, Slot(&Index)},
            {Py_mp_length, Slot(&Length)},
            {Py_mp_subscript, Slot(&GetItem)},
            {Py_mp_ass_subscript, Slot(&SetItem)},
            {Py_sq_length, Slot(&Length)},
            {Py_sq_item, Slot(&GetSequenceItem)},
            {Py_sq_contains, Slot(&Contains)},
            {Py_bf_getbuffer, Slot(&GetBuffer)},
            {Py_bf_releasebuffer, Slot(&ReleaseBuffer)},
            {0, nullptr},
    };
    static PyType_Spec spec = {"chainerx.ndarray", sizeof(NdarrayObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    PyRef type = Check(PyType_FromSpec(&spec));
    g_ndarray_type = reinterpret_cast<PyTypeObject*>(type.get());
    // NumPy looks at the type. It then leaves operators to this class, and its functions refuse these arrays.
    if (PyDict_SetItemString(g_ndarray_type->tp_dict, "__array_ufunc__", Py_None) < 0) throw PythonError{};
    PyType_Modified(g_ndarray_type);
    if (PyModule_AddObjectRef(module, "ndarray", type.get()) < 0) throw PythonError{};
    type.release();
}

}  // namespace chainerx::python
