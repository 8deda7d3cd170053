// The loop over the families' lists: every op becomes a Python function here, and a method where it says so.

#include "chainerx/core/context.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/convolution.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/normalization.h"
#include "chainerx/ops/optimizer.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/random.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/rnn.h"
#include "chainerx/ops/sorting.h"
#include "chainerx/ops/special.h"
#include "chainerx/ops/trigonometric.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/doc.h"
#include "chainerx/python/docs/joining.h"
#include "chainerx/python/docs/linalg.h"
#include "chainerx/python/docs/loss.h"
#include "chainerx/python/docs/manipulation.h"
#include "chainerx/python/docs/nn.h"
#include "chainerx/python/docs/reduction.h"
#include "chainerx/python/docs/rnn.h"
#include "chainerx/python/interop.h"

namespace chainerx::python {
namespace {

// Ops of one array take a number for it, too.
template <auto Call>
struct OfNumbers {
    static constexpr auto kCall = Call;
};
template <class... A, Array (*Call)(const Array&, A...)>
struct OfNumbers<Call> {
    static Array Function(const ArrayOrNumber& x, A... parameters) { return Call(x.array(), parameters...); }
    static constexpr auto kCall = &Function;
};

template <class Op>
void BindElementwise(const char* family) {
    constexpr unsigned kGrads = (ops::GradOf<Op, 0>::kExists ? 1 : 0) | (ops::GradOf<Op, 1>::kExists ? 2 : 0) |
                                (ops::GradOf<Op, 2>::kExists ? 4 : 0);
    const char* doc = Op::kDoc;
    if (Op::kName[0] != '_') doc = DescribeElementwise(doc, Op::kSignature, Op::Info(), Op::kArity, kGrads);
    Bind<OfNumbers<&Op::Call>::kCall>({family, Op::kName, Op::kSignature, doc, Op::kIsMethod, Op::kName});
}

// ---------------------------------------------------------------- ops whose Python arguments need a wrapper

IndexMode GetMode(const std::optional<std::string>& mode) {
    if (!mode.has_value() || *mode == "raise") return IndexMode::kRaise;
    if (*mode == "wrap") return IndexMode::kWrap;
    if (*mode == "clip") return IndexMode::kClip;
    ThrowValueError("mode must be 'raise', 'wrap' or 'clip', not '%s'", mode->c_str());
}

Array PyTake(const Array& a, PyObject* indices, std::optional<int64_t> axis, std::optional<std::string> mode) {
    Array index = IsNdarray(indices) ? GetArray(indices) : ArrayFromObject(indices, std::nullopt, a.device());
    if (index.GetTotalSize() == 0 && !IsNdarray(indices)) index = AsType(index, Dtype::kInt64, false);
    return Take(a, index, axis, GetMode(mode));
}

Array PyAddAt(const Array& a, const Array& indices, const Array& b) { return AddAt(a, indices, 0, b); }

// A tuple, which indexes all dimensions at once.
PyRef PyNonzero(const Array& a) {
    if (a.ndim() == 0) throw DimensionError{"nonzero: an array without dimensions has no indices"};
    PyRef list = Check(ToPython(Nonzero(a)));
    return Check(PyList_AsTuple(list.get()));
}

Array PyClip(const Array& a, PyObject* a_min, PyObject* a_max) {
    if (a_min == Py_None && a_max == Py_None) ThrowValueError("clip: a_min and a_max must not both be None");
    if (a_max == Py_None) return Maximum(a, Arg<Operand>::Get(a_min, "a_min"));
    if (a_min == Py_None) return Minimum(a, Arg<Operand>::Get(a_max, "a_max"));
    // Bounds that are arrays take part in the graph.
    if (IsNdarray(a_min) || IsNdarray(a_max)) {
        return Minimum(Maximum(a, Arg<Operand>::Get(a_min, "a_min")), Arg<Operand>::Get(a_max, "a_max"));
    }
    return ClipBetween(a, Arg<Operand>::Get(a_min, "a_min"), Arg<Operand>::Get(a_max, "a_max"));
}

std::vector<Array> SplitAlong(const Array& a, PyObject* sections, int64_t axis) {
    if (PyIndex_Check(sections)) return Split(a, GetIntArg(sections, "indices_or_sections"), axis);
    return Split(a, Arg<std::vector<int64_t>>::Get(sections, "indices_or_sections"), axis);
}

std::vector<Array> PySplit(const Array& a, PyObject* sections, int64_t axis) { return SplitAlong(a, sections, axis); }
std::vector<Array> PyVsplit(const Array& a, PyObject* sections) {
    if (a.ndim() < 2) throw DimensionError{"vsplit: needs at least 2 dimensions, the array has shape ", a.shape()};
    return SplitAlong(a, sections, 0);
}
std::vector<Array> PyHsplit(const Array& a, PyObject* sections) {
    return SplitAlong(a, sections, a.ndim() == 1 ? 0 : 1);
}
std::vector<Array> PyDsplit(const Array& a, PyObject* sections) { return SplitAlong(a, sections, 2); }

std::vector<Array> PyMeshgrid(const std::vector<Array>& xi, const std::string& indexing) {
    if (indexing != "xy" && indexing != "ij")
        ThrowValueError("indexing must be 'xy' or 'ij', not '%s'", indexing.c_str());
    return Meshgrid(xi, indexing == "ij");
}

// A shift for each axis, or one for all; a missing axis means the flattened array.
Array PyRoll(const Array& a, const std::vector<int64_t>& shift, const std::optional<std::vector<int64_t>>& axis) {
    if (!axis.has_value()) {
        int64_t total = 0;
        for (int64_t s : shift) total += s % std::max<int64_t>(a.GetTotalSize(), 1);
        return Roll(a, total);
    }
    size_t n = std::max(shift.size(), axis->size());
    if ((shift.size() != n && shift.size() != 1) || (axis->size() != n && axis->size() != 1)) {
        ThrowValueError("roll: %zu shifts were given for %zu axes", shift.size(), axis->size());
    }
    Array out = a;
    for (size_t i = 0; i < n; ++i)
        out = Roll(out, shift[shift.size() == 1 ? 0 : i], (*axis)[axis->size() == 1 ? 0 : i]);
    return out;
}

// Pairs for the axes as in NumPy: from one value, one for each side or the like in nested sequences, which are repeated
// where they have a single item.
template <class T>
std::vector<std::array<T, 2>> GetPairs(PyObject* o, const char* name, int8_t ndim) {
    using Items = std::vector<PyRef>;
    auto items = [name](PyObject* p) {
        Items out;
        if (PySequence_Check(p) != 0 && !PyUnicode_Check(p)) {
            ForEachItem(p, name, [&out](PyObject* item) { out.push_back(PyRef::Borrow(item)); });
        } else {
            out.push_back(PyRef::Borrow(p));
        }
        return out;
    };
    auto fit = [&](const Items& given, size_t n) {
        if (given.size() != 1 && given.size() != n) {
            ThrowValueError("%s must be a number, a pair or a pair for each of %d axes, not %zu items", name, int{ndim},
                            given.size());
        }
    };
    Items axes = items(o);
    bool nested = std::any_of(axes.begin(), axes.end(), [](const PyRef& p) { return PySequence_Check(p.get()) != 0; });
    if (!nested) axes = {PyRef::Borrow(o)};
    fit(axes, ndim);
    std::vector<std::array<T, 2>> out;
    // What is given for no axis at all is checked, too.
    for (int8_t i = 0; i < std::max<int8_t>(ndim, 1); ++i) {
        Items sides = items(axes[axes.size() == 1 ? 0 : i].get());
        fit(sides, 2);
        out.push_back({Arg<T>::Get(sides.front().get(), name), Arg<T>::Get(sides.back().get(), name)});
    }
    out.resize(ndim);
    return out;
}

Array PyPad(const Array& a, PyObject* pad_width, PadMode mode, PyObject* constant_values) {
    return Pad(a, GetPairs<int64_t>(pad_width, "pad_width", a.ndim()), mode,
               GetPairs<Scalar>(constant_values, "constant_values", a.ndim()));
}

// On the device of v unless another is given.
Array PyDiag(const Array& v, int64_t k, std::optional<DeviceRef> device) {
    Array out = Diag(v, k);
    return device.has_value() ? ToDevice(out, *device) : out;
}
Array PyDiagflat(const Array& v, int64_t k, std::optional<DeviceRef> device) {
    Array out = Diagflat(v, k);
    return device.has_value() ? ToDevice(out, *device) : out;
}

Array PyCrelu(const Array& x, int64_t axis) {
    if (x.dtype() == Dtype::kUInt8) {
        throw DtypeError{"crelu: x must not be of dtype uint8, which has no negative numbers"};
    }
    return Concatenate({Relu(x), Relu(-x)}, axis);
}

void PyCopyTo(const Array& dst, PyObject* src, const std::string& casting, PyObject* where) {
    Array source = IsNdarray(src) ? GetArray(src) : Full({}, Arg<Scalar>::Get(src, "src"), dst.dtype(), dst.device());
    bool same_kind = GetKind(source.dtype()) <= GetKind(dst.dtype());
    bool safe = PromoteTypes(source.dtype(), dst.dtype()) == dst.dtype();
    if (casting != "no" && casting != "equiv" && casting != "safe" && casting != "same_kind" && casting != "unsafe") {
        ThrowValueError("casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not '%s'", casting.c_str());
    }
    bool allowed = casting == "unsafe" || source.dtype() == dst.dtype() || (casting == "same_kind" && same_kind) ||
                   (casting == "safe" && safe);
    if (!allowed) {
        throw DtypeError{
                "copyto: cannot convert from ", source.dtype(), " to ", dst.dtype(), " with casting='", casting, "'"};
    }
    Array condition;
    if (IsNdarray(where)) {
        condition = GetArray(where);
    } else if (!Arg<bool>::Get(where, "where")) {
        return;
    }
    CopyTo(dst, source, condition);
}

Array PyRandomUniform(const Shape& shape, double low, double high, Dtype dtype, DeviceRef device) {
    return RandomUniform(shape, low, high, dtype, device);
}
Array PyRandomNormal(const Shape& shape, double loc, double scale, Dtype dtype, DeviceRef device) {
    return RandomNormal(shape, loc, scale, dtype, device);
}
Array PyRandomIntegers(const Shape& shape, int64_t low, int64_t high, DeviceRef device) {
    return RandomIntegers(shape, low, high, device);
}
void PyRandomSeed(int64_t seed) { GetDefaultContext().random_generator().Seed(static_cast<uint64_t>(seed)); }

PyObject* CallTreeLstm(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return GuardFunction("tree_lstm", [&] {
        if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) > 0)
            ThrowTypeError("tree_lstm() takes no keyword arguments");
        std::vector<Array> inputs;
        for (Py_ssize_t i = 0; i < nargs; ++i) inputs.push_back(Arg<Array>::Get(args[i], "inputs"));
        return ToPython(TreeLstm(inputs));
    });
}

// A number of axes, a pair of axes, or a pair of lists of them.
Array PyTensordot(const Array& a, const Array& b, PyObject* axes) {
    if (PyIndex_Check(axes) != 0) return Tensordot(a, b, GetIntArg(axes, "axes"));
    std::vector<PyRef> pair;
    if (PySequence_Check(axes) != 0) {
        ForEachItem(axes, "axes", [&pair](PyObject* item) { pair.push_back(PyRef::Borrow(item)); });
    }
    if (pair.size() != 2) {
        ThrowValueError("tensordot: axes must be a number, a pair of axes or a pair of lists of axes");
    }
    return Tensordot(a, b, Arg<Axes>::Get(pair[0].get(), "axes"), Arg<Axes>::Get(pair[1].get(), "axes"));
}

// Labels 0 to 51 as letters in the order in which NumPy counts them, and the ellipsis.
std::string GetSubscripts(PyObject* labels) {
    std::string out;
    ForEachItem(labels, "the list of labels of an operand", [&out](PyObject* item) {
        if (item == Py_Ellipsis) {
            out += "...";
            return;
        }
        int64_t label = GetIntArg(item, "label");
        if (label < 0 || label > 51) ThrowValueError("einsum: labels must be between 0 and 51");
        out += static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26);
    });
    return out;
}

// einsum(subscripts, *operands), or operands and lists of labels by turns.
Array PyEinsum(PyObject* const* args, Py_ssize_t nargs) {
    if (nargs == 0) ThrowTypeError("einsum() missing required argument 'subscripts'");
    std::vector<Array> operands;
    if (PyUnicode_Check(args[0])) {
        for (Py_ssize_t i = 1; i < nargs; ++i) operands.push_back(Arg<Array>::Get(args[i], "operands"));
        return Einsum(Arg<std::string>::Get(args[0], "subscripts"), operands);
    }
    std::string subscripts;
    for (Py_ssize_t i = 0; i + 1 < nargs; i += 2) {
        operands.push_back(Arg<Array>::Get(args[i], "operands"));
        subscripts += (i == 0 ? "" : ",") + GetSubscripts(args[i + 1]);
    }
    if (nargs % 2 == 1) subscripts += "->" + GetSubscripts(args[nargs - 1]);
    return Einsum(subscripts, operands);
}

PyObject* CallEinsum(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    return GuardFunction("einsum", [&] {
        for (Py_ssize_t i = 0; kwnames != nullptr && i < PyTuple_GET_SIZE(kwnames); ++i) {
            PyObject* key = PyTuple_GET_ITEM(kwnames, i);
            // The order of products is always chosen.
            if (PyUnicode_CompareWithASCIIString(key, "optimize") == 0) continue;
            ThrowTypeError("einsum() got an unexpected keyword argument '%U'", key);
        }
        return ToPython(PyEinsum(args, nargs));
    });
}

template <const UpdateRule& rule>
void PyUpdate(const std::vector<Array>& arrays, const std::vector<double>& scalars) {
    UpdateParameters(rule, arrays, scalars);
}

}  // namespace

void BindOps() {
#define CHAINERX_BIND_ELEMENTWISE(Op) BindElementwise<ops::Op>(family);
#define CHAINERX_BIND(function, name, signature, method, kernels) \
    Bind<&function>({family, name, signature, docs::k##function, method, kernels});
    const char* family = "arithmetic";
    CHAINERX_ARITHMETIC_OPS(CHAINERX_BIND_ELEMENTWISE)
    Bind<&PyClip>({family, "clip", "a, a_min, a_max", docs::kClip, true, "_clip"});
    family = "comparison";
    CHAINERX_COMPARISON_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "explog";
    CHAINERX_EXPLOG_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "trigonometric";
    CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "special";
    CHAINERX_SPECIAL_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "activation";
    CHAINERX_ACTIVATION_OPS(CHAINERX_BIND_ELEMENTWISE)
    Bind<&PyCrelu>({family, "crelu", "x, axis=1", docs::kCrelu, false, ""});
    family = "reduction";
    CHAINERX_REDUCTION_OPS(CHAINERX_BIND)
    family = "linalg";
    CHAINERX_LINALG_OPS(CHAINERX_BIND)
    Bind<&PyTensordot>({family, "tensordot", "a, b, axes=2", docs::kTensordot, false, "matmul"});
    AddFunction({family, "einsum", "*operands, optimize=True", docs::kEinsum, false, "matmul"},
                reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallEinsum)), nullptr);
    family = "loss";
    CHAINERX_LOSS_OPS(CHAINERX_BIND)
    family = "manipulation";
    CHAINERX_MANIPULATION_OPS(CHAINERX_BIND)
    Bind<&PyRoll>({family, "roll", "a, shift, axis=None", docs::kRoll, false, ""});
    Bind<&PyPad>(
            {family, "pad", "array, pad_width, mode='constant', constant_values=0", docs::kPad, false, "copy take"});
    Bind<&PyDiag>({family, "diag", "v, k=0, device=None", docs::kDiag, false, ""});
    Bind<&PyDiagflat>({family, "diagflat", "v, k=0, device=None", docs::kDiagflat, false, ""});
    Bind<&PySplit>({family, "split", "ary, indices_or_sections, axis=0", docs::kSplit, false, ""});
    Bind<&PyVsplit>({family, "vsplit", "ary, indices_or_sections", docs::kVsplit, false, ""});
    Bind<&PyHsplit>({family, "hsplit", "ary, indices_or_sections", docs::kHsplit, false, ""});
    Bind<&PyDsplit>({family, "dsplit", "ary, indices_or_sections", docs::kDsplit, false, ""});
    Bind<&PyMeshgrid>(
            {family, "_meshgrid", "xi, indexing='xy'", "Coordinate arrays from coordinate vectors.", false, ""});
    Bind<&PyCopyTo>({family, "copyto", "dst, src, casting='no', where=True", docs::kCopyTo, false, "copy"});
    family = "indexing";
    Bind<&PyNonzero>({family, "nonzero", "a", docs::kNonzero, false, "nonzero"});
    Bind<&PyTake>(
            {family, "take", "a, indices, axis=None, mode=None", docs::kTake, true, "take add_at normalize_indices"});
    Bind<&PyAddAt>({family, "_add_at", "a, indices, b", "A copy of the vector ``a`` with ``b`` added at given indices.",
                    false, "add_at take normalize_indices"});
    family = "attention";
    CHAINERX_ATTENTION_OPS(CHAINERX_BIND)
    family = "convolution";
    CHAINERX_CONVOLUTION_OPS(CHAINERX_BIND)
    family = "pooling";
    CHAINERX_POOLING_OPS(CHAINERX_BIND)
    family = "normalization";
    CHAINERX_NORMALIZATION_OPS(CHAINERX_BIND)
    family = "rnn";
    CHAINERX_RNN_OPS(CHAINERX_BIND)
    AddFunction({family, "tree_lstm", "*inputs", docs::kTreeLstm, false, "tree_lstm tree_lstm_grad"},
                reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&CallTreeLstm)), nullptr);
    family = "sorting";
    CHAINERX_SORTING_OPS(CHAINERX_BIND)
    family = "random";
    CHAINERX_RANDOM_OPS(CHAINERX_BIND)
    Bind<&PyRandomUniform>({family, "_random_uniform", "shape, low, high, dtype, device=None",
                            "Uniform numbers from the context's generator.", false, "random_uniform"});
    Bind<&PyRandomNormal>({family, "_random_normal", "shape, loc, scale, dtype, device=None",
                           "Normal numbers from the context's generator.", false, "random_normal"});
    Bind<&PyRandomIntegers>({family, "_random_integers", "shape, low, high, device=None",
                             "Integers below ``high`` from the context's generator.", false, "random_integers"});
    Bind<&PyRandomSeed>({nullptr, "_random_seed", "seed", "Seeds the context's generator.", false, ""});
    family = "optimizer";
#define CHAINERX_BIND_UPDATE(Rule, name, n_states, n_scalars, doc)                                              \
    Bind<&PyUpdate<k##Rule##Update>>({family, "_" name "_update", "arrays, scalars",                            \
                                      "Updates parameters in place. The arrays are the parameters, then their " \
                                      "gradients, then each kind of state. " doc ".",                           \
                                      false, name});
    CHAINERX_UPDATE_RULES(CHAINERX_BIND_UPDATE)
#undef CHAINERX_BIND_UPDATE
}

}  // namespace chainerx::python
