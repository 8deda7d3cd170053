#include "chainerx/python/autograd.h"

#include <variant>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/context.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/core_types.h"
#include "chainerx/python/docs/autograd.h"
#include "chainerx/python/object.h"
#include "chainerx/testing/gradient_check.h"

namespace chainerx::python {

BackpropId Arg<BackpropId>::Get(PyObject* o, const char* name) {
    return ValueArg<GraphRef>(o, name, "chainerx.BackpropId or None").id;
}

bool Arg<AnyGraph>::Accepts(PyObject* o) { return Is<AnyGraph>(o); }

std::string GraphNames(const Array& a) {
    std::string out = "[";
    GraphMask mask = internal::GetRecordMask(a);
    for (const std::string& name : internal::GetGraphNames(mask)) out += (out.size() > 1 ? ", '" : "'") + name + "'";
    return out + "]";
}

std::vector<Array> WithNone(PyObject* o, const char* name) {
    std::vector<Array> out;
    if (o == Py_None) return out;
    for (const std::optional<Array>& a : Arg<std::vector<std::optional<Array>>>::Get(o, name)) {
        out.push_back(a.value_or(Array{}));
    }
    return out;
}

namespace {

// Operations alone hold the others. A gradient whose graph leads to these operations would live forever.
bool HasObject(const Array& array) { return array.body()->binding != nullptr; }

}  // namespace

BackwardOptions Options(bool enable_double_backprop, std::optional<double> loss_scale, bool retain_grad) {
    return {enable_double_backprop, loss_scale, retain_grad ? &HasObject : nullptr, {}, {}};
}

namespace {

using OneOrMore = std::variant<Array, std::vector<Array>>;
std::vector<Array> ToVector(const OneOrMore& arrays) {
    if (const Array* one = std::get_if<Array>(&arrays)) return {*one};
    return std::get<std::vector<Array>>(arrays);
}

void PyBackward(const OneOrMore& outputs, std::optional<BackpropId> id, bool enable_double_backprop,
                std::optional<double> loss_scale, bool retain_grad) {
    Backward(ToVector(outputs), id, Options(enable_double_backprop, loss_scale, retain_grad));
}

void InnerBackward(const std::vector<Array>& outputs, std::optional<double> loss_scale, bool retain_grad,
                   std::optional<PyCallable> on_leaf, std::optional<std::vector<Array>> inputs) {
    BackwardOptions options = Options(false, loss_scale, retain_grad);
    options.inputs = std::move(inputs);
    if (on_leaf.has_value()) {
        options.on_leaf = [&](const Array& leaf) {
            GilScope gil;
            PyRef array{ToPython(leaf)};
            Check(PyObject_CallFunctionObjArgs(on_leaf->object, array.get(), nullptr));
        };
    }
    Backward(outputs, std::nullopt, options);
}

std::vector<Array> PyGrad(const OneOrMore& outputs, const OneOrMore& inputs, std::optional<BackpropId> id,
                          bool enable_double_backprop, bool set_grad, bool retain_grad, PyObject* grad_outputs,
                          std::optional<double> loss_scale) {
    return Grad(ToVector(outputs), ToVector(inputs), id, set_grad, WithNone(grad_outputs, "grad_outputs"),
                Options(enable_double_backprop, loss_scale, retain_grad));
}

// A Python function of a list of arrays.
ArrayFunction Wrap(PyObject* func) {
    return [func](const std::vector<Array>& inputs) {
        PyRef args{ToPython(inputs)};
        PyRef result = Check(PyObject_CallFunctionObjArgs(func, args.get(), nullptr));
        return ToVector(Arg<OneOrMore>::Get(result.get(), "the result of func"));
    };
}

void PyCheckBackward(PyCallable func, const std::vector<Array>& inputs, PyObject* grad_outputs,
                     const std::vector<Array>& eps, double atol, double rtol, std::optional<BackpropId> id) {
    CheckBackward(Wrap(func.object), inputs, WithNone(grad_outputs, "grad_outputs"), eps, atol, rtol, id);
}

void PyCheckDoubleBackward(PyCallable func, const std::vector<Array>& inputs, const std::vector<Array>& grad_outputs,
                           const std::vector<Array>& grad_grad_inputs, const std::vector<Array>& eps, double atol,
                           double rtol, std::optional<BackpropId> id) {
    CheckDoubleBackward(Wrap(func.object), inputs, grad_outputs, grad_grad_inputs, eps, atol, rtol, id);
}

}  // namespace

void BindAutograd() {
    Function<&PyBackward>("backward",
                          "outputs, backprop_id=None, enable_double_backprop=False, loss_scale=None, retain_grad=False",
                          docs::kBackward);
    Function<&InnerBackward>("_backward", "outputs, loss_scale=None, retain_grad=False, on_leaf=None, inputs=None",
                             "Runs backward with the options of BackwardOptions in C++.");
    Function<&PyGrad>(
            "grad",
            "outputs, inputs, backprop_id=None, enable_double_backprop=False, set_grad=False, retain_grad=False, "
            "grad_outputs=(), loss_scale=None",
            docs::kGrad);
    Function<&UnchainBackward>("_unchain_backward", "array",
                               "Cuts every edge from the array back to the leaves, in all graphs.");
    Function<&PyCheckBackward>("check_backward",
                               "func, inputs, grad_outputs, eps, atol=1e-5, rtol=1e-4, backprop_id=None",
                               docs::kCheckBackward);
    Function<&PyCheckDoubleBackward>(
            "check_double_backward",
            "func, inputs, grad_outputs, grad_grad_inputs, eps, atol=1e-5, rtol=1e-4, backprop_id=None",
            docs::kCheckDoubleBackward);
}

}  // namespace chainerx::python
