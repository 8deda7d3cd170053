// Nodes whose backward computation is a chainer.FunctionNode written in Python.

#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {
namespace {

class FunctionNodeOp final : public OpNode {
public:
    FunctionNodeOp(PyObject* function, GraphMask mask)
        : OpNode{"chainer.FunctionNode", mask}, function_{PyRef::Borrow(function)} {}
    ~FunctionNodeOp() override { FunctionNodeOp::ReleaseSaved(); }

    void RetainInput(const Array& a) { inputs_.emplace_back(a); }
    void RetainOutput(const Array& a, size_t index) { outputs_.push_back({Saved{a.AsDetached()}, index}); }

    void ReleaseSaved() noexcept override {
        GilScope gil;
        function_ = PyRef{};
        inputs_.clear();
        outputs_.clear();
    }

    void Backward(BackwardContext& ctx) override {
        GilScope gil;
        std::vector<size_t> targets;
        for (size_t i = 0; i < edges().size(); ++i) {
            if (ctx.IsWanted(i)) targets.push_back(i);
        }
        PyRef indexes = Check(PyTuple_New(static_cast<Py_ssize_t>(targets.size())));
        for (size_t i = 0; i < targets.size(); ++i) {
            PyTuple_SET_ITEM(indexes.get(), i, Check(PyLong_FromSize_t(targets[i])).release());
        }
        PyRef grads = Check(PyTuple_New(static_cast<Py_ssize_t>(ctx.output_count())));
        for (size_t i = 0; i < ctx.output_count(); ++i)
            PyTuple_SET_ITEM(grads.get(), i, Check(ToPython(ctx.grad(i))).release());
        PyRef inputs = Check(PyTuple_New(static_cast<Py_ssize_t>(inputs_.size())));
        for (size_t i = 0; i < inputs_.size(); ++i) {
            PyTuple_SET_ITEM(inputs.get(), i, Check(ToPython(inputs_[i].Get())).release());
        }
        PyRef outputs = Check(PyTuple_New(static_cast<Py_ssize_t>(outputs_.size())));
        for (size_t i = 0; i < outputs_.size(); ++i) {
            PyTuple_SET_ITEM(outputs.get(), i,
                             Check(ToPython(ctx.RetainedOutput(outputs_[i].saved, outputs_[i].index))).release());
        }
        PyRef name = Check(PyUnicode_InternFromString("_backward_chainerx"));
        PyRef function = function_;  // stays alive although the graph may be released meanwhile
        PyRef result = Check(PyObject_CallMethodObjArgs(function.get(), name.get(), indexes.get(), grads.get(),
                                                        inputs.get(), outputs.get(), nullptr));
        std::vector<std::optional<Array>> gx = Arg<std::vector<std::optional<Array>>>::Get(result.get(), "a gradient");
        if (gx.size() != targets.size()) {
            ThrowValueError("_backward_chainerx returned %zu gradients for %zu inputs", gx.size(), targets.size());
        }
        for (size_t i = 0; i < targets.size(); ++i) {
            if (gx[i].has_value()) ctx.SetGrad(targets[i], *gx[i]);
        }
    }

private:
    struct KeptOutput {
        Saved saved;
        size_t index;
    };
    PyRef function_;
    std::vector<Saved> inputs_;
    std::vector<KeptOutput> outputs_;
};

std::vector<std::optional<Array>> MakeOutputs(const std::vector<std::optional<Array>>& outputs) {
    std::vector<std::optional<Array>> out;
    for (const std::optional<Array>& a : outputs) {
        if (!a.has_value()) {
            out.emplace_back();
        } else {
            if (a->body()->node() != nullptr)
                throw ChainerxError{"outputs of a FunctionNode must not belong to a graph"};
            out.emplace_back(a->AsDetached());
        }
    }
    return out;
}

size_t CheckIndex(int64_t i, size_t n, const char* what) {
    if (i < 0 || static_cast<size_t>(i) >= n)
        ThrowValueError("%s index %lld is out of range", what, static_cast<long long>(i));
    return static_cast<size_t>(i);
}

std::vector<Array> FunctionNodeForward(PyObject* function, const std::vector<Array>& inputs,
                                       const std::vector<std::optional<Array>>& outputs,
                                       const std::vector<int64_t>& inputs_to_retain,
                                       const std::vector<int64_t>& outputs_to_retain) {
    std::vector<std::optional<Array>> out = MakeOutputs(outputs);
    GraphMask mask = 0;
    for (const Array& a : inputs) mask |= internal::GetRecordMask(a);
    if (mask != 0) {
        auto* node = new FunctionNodeOp{function, mask};
        IntrusivePtr<OpNode> guard{node};
        for (const Array& a : inputs) node->AddInput(a, mask);
        for (int64_t i : inputs_to_retain) node->RetainInput(inputs[CheckIndex(i, inputs.size(), "input")]);
        for (int64_t i : outputs_to_retain) {
            size_t k = CheckIndex(i, out.size(), "output");
            if (!out[k].has_value()) ThrowValueError("output %zu is None and cannot be retained", k);
            node->RetainOutput(*out[k], k);
        }
        for (const std::optional<Array>& a : out) {
            if (a.has_value()) {
                node->AddOutput(*a);
            } else {
                node->AddNoOutput();
            }
        }
    }
    std::vector<Array> results;
    for (const std::optional<Array>& a : out) results.push_back(a.value_or(Array{}));
    return results;
}

}  // namespace

void BindFunctionNode() {
    Function<&FunctionNodeForward>("_function_node_forward",
                                   "function_node, inputs, outputs, input_indexes_to_retain, output_indexes_to_retain",
                                   "Connects outputs that a chainer.FunctionNode has computed to its inputs.");
}

}  // namespace chainerx::python
