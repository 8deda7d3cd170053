// Binds every op of the families' lists as a Python function, and as a method if its declaration says so.

#include <optional>
#include <string>
#include <variant>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/complex.h"
#include "chainerx/ops/convolution.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/explog.h"
#include "chainerx/ops/factorization.h"
#include "chainerx/ops/fft.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/loss.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/normalization.h"
#include "chainerx/ops/optimizer.h"
#include "chainerx/ops/pooling.h"
#include "chainerx/ops/quantized_linear.h"
#include "chainerx/ops/random.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/rnn.h"
#include "chainerx/ops/sorting.h"
#include "chainerx/ops/special.h"
#include "chainerx/ops/statistics.h"
#include "chainerx/ops/trigonometric.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/doc.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/with_out.h"

namespace chainerx::python {
namespace {

// Writes the result of an op to an array, outside of graphs.
Array WriteElementwise(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n, const Array& out) {
    bool has_array = false;
    GraphMask mask = 0;
    for (int i = 0; i < n; ++i) {
        if (!inputs[i].is_array()) continue;
        has_array = true;
        mask |= internal::GetRecordMask(inputs[i].array());
    }
    CheckOut(info.name, mask, out);
    if (!has_array) throw TypeError{info.name, " needs at least one array among its arguments"};
    internal::RunElementwiseInto(info, op, inputs, n, out);
    return out;
}

// What Python calls. Ops of one array also take a number, and those of one or two operands without parameters an array
// for the result.
template <class Op, auto Call = &Op::Call>
struct PyElementwise {
    static constexpr bool kHasOut = false;
    static constexpr auto kCall = Call;
};
template <class Op, class... A, Array (*Call)(const Array&, A...)>
struct PyElementwise<Op, Call> {
    static constexpr bool kHasOut = sizeof...(A) == 0;
    static Array Function(const ArrayOrNumber& x, A... parameters) { return Call(x.array(), parameters...); }
    static Array FunctionWithOut(const ArrayOrNumber& x, const std::optional<Array>& out) {
        if (CHAINERX_LIKELY(!out.has_value())) return Call(x.array());
        Op op{};
        const Operand inputs[] = {x.array()};
        return WriteElementwise(Op::Info(), &op, inputs, 1, *out);
    }
    static constexpr auto Choose() {
        if constexpr (kHasOut) {
            return &FunctionWithOut;
        } else {
            return &Function;
        }
    }
    static constexpr auto kCall = Choose();
};
template <class Op, Array (*Call)(const Operand&, const Operand&)>
struct PyElementwise<Op, Call> {
    static constexpr bool kHasOut = true;
    static Array Function(const Operand& x1, const Operand& x2, const std::optional<Array>& out) {
        if (CHAINERX_LIKELY(!out.has_value())) return Call(x1, x2);
        Op op{};
        const Operand inputs[] = {x1, x2};
        return WriteElementwise(Op::Info(), &op, inputs, 2, *out);
    }
    static constexpr auto kCall = &Function;
};
// With a condition alone, where is nonzero.
template <auto Call>
struct PyElementwise<ops::Where, Call> {
    static constexpr bool kHasOut = false;
    static std::variant<Array, ArrayTuple> Function(const Operand& condition, const std::optional<Operand>& x,
                                                    const std::optional<Operand>& y) {
        if (CHAINERX_LIKELY(x.has_value() && y.has_value())) return Call(condition, *x, *y);
        if (x.has_value() || y.has_value()) throw ValueError{"where: x and y must be given both, or neither of them"};
        if (!condition.is_array()) throw TypeError{"where needs at least one array among its arguments"};
        return Nonzero(condition.array());
    }
    static constexpr auto kCall = &Function;
};

// `grads`: a bit for each operand with a gradient.
void AddElementwise(const Binding& binding, const char* family, Routine routine, bool has_out,
                    const ElementwiseInfo& info, int arity, unsigned grads) {
    std::string signature = routine.signature;
    if (has_out) signature += ", out=None";
    routine.signature = signature.c_str();
    if (routine.name[0] != '_') {
        routine.doc = DescribeElementwise(routine.doc, routine.signature, info, arity, grads);
    }
    AddRoutine(binding, family, routine);
}

template <class Op>
void BindElementwise(const char* family) {
    constexpr unsigned kGrads = (ops::GradOf<Op, 0>::kExists ? 1 : 0) | (ops::GradOf<Op, 1>::kExists ? 2 : 0) |
                                (ops::GradOf<Op, 2>::kExists ? 4 : 0);
    AddElementwise(BindingOf<PyElementwise<Op>::kCall>(), family,
                   {Op::kName, Op::kSignature, Op::kName, Op::kDoc, Op::kIsMethod}, PyElementwise<Op>::kHasOut,
                   Op::Info(), Op::kArity, kGrads);
}

void PyRandomSeed(int64_t seed) { GetDefaultContext().random_generator().Seed(static_cast<uint64_t>(seed)); }

// Labels 0 to 51 as letters in NumPy's order, and the ellipsis.
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

// einsum(subscripts, *operands), or alternating operands and lists of labels.
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
            // Einsum always optimizes the order of products.
            if (PyUnicode_CompareWithASCIIString(key, "optimize") == 0) continue;
            ThrowTypeError("einsum() got an unexpected keyword argument '%U'", key);
        }
        return ToPython(PyEinsum(args, nargs));
    });
}

std::vector<std::string> EinsumTypes() { return {"Any", "bool", "ndarray"}; }

template <const UpdateRule& rule>
void PyUpdate(const std::vector<Array>& arrays, const std::vector<double>& scalars) {
    UpdateParameters(rule, arrays, scalars);
}

}  // namespace

void BindOps() {
    const char* family = nullptr;
#define CHAINERX_BIND_ELEMENTWISE(Op) BindElementwise<ops::Op>(family);
#define CHAINERX_BIND_ROUTINE(function) Bind<&function>(family, routines::function);
#define CHAINERX_BIND_WITH_OUT(function) BindWithOut<&function>(family, routines::function);
    family = "arithmetic";
    CHAINERX_ARITHMETIC_OPS(CHAINERX_BIND_ELEMENTWISE)
    CHAINERX_ARITHMETIC_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "comparison";
    CHAINERX_COMPARISON_OPS(CHAINERX_BIND_ELEMENTWISE)
    CHAINERX_COMPARISON_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "explog";
    CHAINERX_EXPLOG_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "complex";
    CHAINERX_COMPLEX_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "trigonometric";
    CHAINERX_TRIGONOMETRIC_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "special";
    CHAINERX_SPECIAL_OPS(CHAINERX_BIND_ELEMENTWISE)
    family = "activation";
    CHAINERX_ACTIVATION_OPS(CHAINERX_BIND_ELEMENTWISE)
    CHAINERX_ACTIVATION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "reduction";
    CHAINERX_REDUCTION_ROUTINES(CHAINERX_BIND_ROUTINE, CHAINERX_BIND_WITH_OUT)
    family = "statistics";
    CHAINERX_STATISTICS_ROUTINES(CHAINERX_BIND_ROUTINE, CHAINERX_BIND_WITH_OUT)
    family = "linalg";
    CHAINERX_LINALG_ROUTINES(CHAINERX_BIND_ROUTINE, CHAINERX_BIND_WITH_OUT)
    AddFunction({nullptr, family, routines::Einsum, &EinsumTypes}, &CallEinsum, nullptr);
    CHAINERX_QUANTIZED_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "loss";
    CHAINERX_LOSS_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "manipulation";
    CHAINERX_MANIPULATION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "indexing";
    CHAINERX_INDEXING_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "attention";
    CHAINERX_ATTENTION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "convolution";
    CHAINERX_CONVOLUTION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "pooling";
    CHAINERX_POOLING_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "normalization";
    CHAINERX_NORMALIZATION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "rnn";
    CHAINERX_RNN_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "sorting";
    CHAINERX_SORTING_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "random";
    CHAINERX_RANDOM_ROUTINES(CHAINERX_BIND_ROUTINE)
    Function<&PyRandomSeed>("_random_seed", "seed", "Seeds the context's generator.");
    family = "optimizer";
#define CHAINERX_BIND_UPDATE(Rule, name, n_states, n_scalars, doc)                                              \
    Bind<&PyUpdate<k##Rule##Update>>(family,                                                                    \
                                     {"_" name "_update", "arrays, scalars", name,                              \
                                      "Updates parameters in place. The arrays are the parameters, then their " \
                                      "gradients, then each kind of state. " doc ".",                           \
                                      false});
    CHAINERX_UPDATE_RULES(CHAINERX_BIND_UPDATE)
#undef CHAINERX_BIND_UPDATE
    family = "creation";
    BindConversions(family);
    CHAINERX_CREATION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "factorization";
    CHAINERX_FACTORIZATION_ROUTINES(CHAINERX_BIND_ROUTINE)
    family = "fft";
    CHAINERX_FFT_ROUTINES(CHAINERX_BIND_ROUTINE)
}

}  // namespace chainerx::python
