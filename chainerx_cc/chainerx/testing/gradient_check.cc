#include "chainerx/testing/gradient_check.h"

#include <cmath>

#include "chainerx/autograd/backward.h"
#include "chainerx/autograd/graph.h"
#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx/ops/reduction.h"

namespace chainerx {
namespace {

// Host copy of an array in double precision.
std::vector<double> ToHost(const Array& a) {
    Array d = AsContiguous(AsType(a.AsDetached(), Dtype::kFloat64, false));
    std::vector<double> out(d.GetTotalSize());
    d.device().CopyToHost(out.data(), d.raw_data(), d.GetNBytes());
    return out;
}

Array FromHostAs(const std::vector<double>& values, const Array& like) {
    return AsType(FromHost(like.shape(), Dtype::kFloat64, values.data(), like.device()), like.dtype(), false);
}

// sum over outputs of <output, weight>
double Weighted(const std::vector<Array>& outputs, const std::vector<std::vector<double>>& weights) {
    double total = 0;
    if (outputs.size() != weights.size())
        throw GradientCheckError{"the function has other outputs when it is called again"};
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (weights[i].empty()) continue;
        std::vector<double> y = ToHost(outputs[i]);
        if (y.size() != weights[i].size()) {
            throw GradientCheckError{"output ", i, " of the function has another size when it is called again"};
        }
        for (size_t j = 0; j < y.size(); ++j) total += y[j] * weights[i][j];
    }
    return total;
}

void Compare(size_t index, const std::vector<double>& numerical, const std::vector<double>& actual, double atol,
             double rtol) {
    for (size_t j = 0; j < numerical.size(); ++j) {
        if (std::abs(numerical[j] - actual[j]) <= atol + rtol * std::abs(numerical[j])) continue;
        throw GradientCheckError{"the gradient of input ",
                                 index,
                                 " differs at element ",
                                 j,
                                 ": numerical ",
                                 numerical[j],
                                 ", by backpropagation ",
                                 actual[j],
                                 " (atol ",
                                 atol,
                                 ", rtol ",
                                 rtol,
                                 ")"};
    }
}

void Check(const ArrayFunction& func, const std::vector<Array>& inputs, const std::vector<Array>& grad_outputs,
           const std::vector<Array>& eps, double atol, double rtol, const BackpropId& g) {
    if (eps.size() != inputs.size()) {
        throw ChainerxError{"eps has ", eps.size(), " arrays for ", inputs.size(), " inputs"};
    }
    std::vector<bool> required;
    for (size_t i = 0; i < inputs.size(); ++i) {
        required.push_back(inputs[i].IsBackpropRequired(g));
        if (eps[i].shape() != inputs[i].shape()) {
            throw DimensionError{"eps[",           i, "] has shape ", eps[i].shape(), " but the input has shape ",
                                 inputs[i].shape()};
        }
    }
    // Backpropagation.
    std::vector<Array> leaves;
    std::vector<Array> wanted;
    for (size_t i = 0; i < inputs.size(); ++i) {
        Array leaf = inputs[i].AsDetached();
        if (required[i]) {
            leaf.RequireGrad(g);
            wanted.push_back(leaf);
        }
        leaves.push_back(leaf);
    }
    std::vector<Array> outputs = func(leaves);
    if (outputs.size() != grad_outputs.size()) {
        throw GradientCheckError{"the function has ", outputs.size(), " outputs but there are ", grad_outputs.size(),
                                 " output gradients"};
    }
    std::vector<Array> connected;
    std::vector<Array> connected_grads;
    std::vector<std::vector<double>> weights;
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (grad_outputs[i] && grad_outputs[i].shape() != outputs[i].shape()) {
            throw DimensionError{
                    "grad_outputs[",   i, "] has shape ", grad_outputs[i].shape(), " but the output has shape ",
                    outputs[i].shape()};
        }
        weights.push_back(grad_outputs[i] ? ToHost(grad_outputs[i]) : std::vector<double>{});
        if (grad_outputs[i] && outputs[i].IsBackpropRequired(g)) {
            connected.push_back(outputs[i]);
            connected_grads.push_back(grad_outputs[i].AsDetached());
        }
    }
    std::vector<Array> grads = Grad(connected, wanted, g, false, connected_grads);
    grads.resize(wanted.size());

    // Central differences.
    size_t k = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!required[i]) continue;
        std::vector<double> x = ToHost(inputs[i]);
        std::vector<double> h = ToHost(eps[i]);
        std::vector<double> numerical(x.size());
        std::vector<Array> moved;
        for (const Array& a : inputs) moved.push_back(a.AsDetached());
        auto at = [&](size_t j, double value) {
            std::vector<double> values = x;
            values[j] = value;
            moved[i] = FromHostAs(values, inputs[i]);
            // The function may differentiate internally, so its inputs still require gradients.
            for (size_t m = 0; m < moved.size(); ++m) {
                moved[m] = moved[m].AsDetached();
                if (required[m]) moved[m].RequireGrad(g);
            }
            return Weighted(func(moved), weights);
        };
        for (size_t j = 0; j < x.size(); ++j) numerical[j] = (at(j, x[j] + h[j]) - at(j, x[j] - h[j])) / (2 * h[j]);
        Compare(i, numerical, grads[k] ? ToHost(grads[k]) : std::vector<double>(x.size()), atol, rtol);
        ++k;
    }
}

BackpropId Resolve(const std::vector<Array>& inputs, const std::optional<BackpropId>& id) {
    if (inputs.empty()) throw ChainerxError{"a gradient check needs at least one input"};
    return internal::GetBackpropId(inputs.front(), id);
}

}  // namespace

void CheckBackward(const ArrayFunction& func, const std::vector<Array>& inputs, const std::vector<Array>& grad_outputs,
                   const std::vector<Array>& eps, double atol, double rtol, const std::optional<BackpropId>& id) {
    Check(func, inputs, grad_outputs, eps, atol, rtol, Resolve(inputs, id));
}

void CheckDoubleBackward(const ArrayFunction& func, const std::vector<Array>& inputs,
                         const std::vector<Array>& grad_outputs, const std::vector<Array>& grad_grad_inputs,
                         const std::vector<Array>& eps, double atol, double rtol, const std::optional<BackpropId>& id) {
    BackpropId g = Resolve(inputs, id);
    size_t n = inputs.size();
    // First-order gradients as a function of inputs and output gradients.
    ArrayFunction first = [&](const std::vector<Array>& xs) {
        std::vector<Array> x(xs.begin(), xs.begin() + n);
        std::vector<Array> gy(xs.begin() + n, xs.end());
        std::vector<Array> wanted;
        for (const Array& a : x) {
            if (a.IsBackpropRequired(g)) wanted.push_back(a);
        }
        BackwardOptions options;
        options.enable_double_backprop = true;
        std::vector<Array> grads = Grad(func(x), wanted, g, false, gy, options);
        std::vector<Array> out;
        for (size_t i = 0; i < grads.size(); ++i) out.push_back(grads[i] ? grads[i] : ZerosLike(wanted[i]));
        return out;
    };
    std::vector<Array> all = inputs;
    all.insert(all.end(), grad_outputs.begin(), grad_outputs.end());
    Check(first, all, grad_grad_inputs, eps, atol, rtol, g);
}

}  // namespace chainerx
