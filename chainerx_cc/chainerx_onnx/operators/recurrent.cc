// Recurrent layers.

#include <algorithm>
#include <cctype>

#include "chainerx_onnx/operators/common.h"
#include "chainerx_onnx/operators/fused_recurrent.h"

namespace chainerx::onnx {
namespace {

struct Activation {
    Array operator()(const Array& x) const {
        return function(clip > 0 ? Maximum(Minimum(x, Scalar{clip}), Scalar{-clip}) : x, alpha, beta);
    }
    const char* name;
    Array (*function)(const Array& x, double alpha, double beta);
    double alpha;
    double beta;
    double clip{0};
};

const Activation kActivations[] = {
        {"affine", [](const Array& x, double a, double b) { return Scalar{a} * x + Scalar{b}; }, 1, 0},
        {"elu", [](const Array& x, double a, double) { return Elu(x, a); }, 1, 0},
        {"hardsigmoid", [](const Array& x, double a, double b) { return ClippedRelu(Scalar{a} * x + Scalar{b}, 1.0); },
         0.2, 0.5},
        {"leakyrelu", [](const Array& x, double a, double) { return LeakyRelu(x, a); }, 0.01, 0},
        {"relu", [](const Array& x, double, double) { return Relu(x); }, 0, 0},
        {"scaledtanh", [](const Array& x, double a, double b) { return Scalar{a} * Tanh(Scalar{b} * x); }, 1, 1},
        {"sigmoid", [](const Array& x, double, double) { return Sigmoid(x); }, 0, 0},
        {"softplus", [](const Array& x, double, double) { return Softplus(x); }, 0, 0},
        {"softsign", [](const Array& x, double, double) { return x / (Scalar{1.0} + Absolute(x)); }, 0, 0},
        {"tanh", [](const Array& x, double, double) { return Tanh(x); }, 0, 0},
        {"thresholdedrelu", [](const Array& x, double a, double) { return Where(Greater(x, Scalar{a}), x, Scalar{0}); },
         1, 0},
};

// What all kinds of layers have in common. `gates`: of a unit. `defaults`: its activations.
class Layer {
public:
    Layer(const Node& node, int gates, std::initializer_list<const char*> defaults, int n_states)
        : gates_{gates}, n_states_{n_states}, layout_{node.Flag("layout")} {
        hidden_size_ = node.OptionalInt("hidden_size").value_or(-1);
        std::string direction = node.String("direction");
        if (direction != "reverse") reversed_.push_back(false);
        if (direction != "forward") reversed_.push_back(true);
        std::vector<std::string> names;
        // The schema has defaults for two directions only.
        if (node.Peek("activations") != nullptr) names = node.Strings("activations");
        for (size_t d = names.empty() ? 0 : reversed_.size(); d < reversed_.size(); ++d) {
            names.insert(names.end(), defaults.begin(), defaults.end());
        }
        if (names.size() != reversed_.size() * defaults.size())
            throw ModelError{"it has ", names.size(), " activations"};
        std::vector<float> alphas = node.FloatsOrNone("activation_alpha");
        std::vector<float> betas = node.FloatsOrNone("activation_beta");
        double clip = node.OptionalFloat("clip").value_or(0);
        for (size_t i = 0; i < names.size(); ++i) {
            std::string name = names[i];
            for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            const Activation* found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                                   [&](const Activation& each) { return name == each.name; });
            if (found == std::end(kActivations)) throw ModelError{"there is no activation '", names[i], "'"};
            Activation& activation = activations_.emplace_back(*found);
            if (i < alphas.size()) activation.alpha = alphas[i];
            if (i < betas.size()) activation.beta = betas[i];
            activation.clip = clip;
        }
    }

    // A layer that ChainerX runs in one kernel; none for other activations than its.
    Kernel Fused(const Node& node, RnnKind kind, std::initializer_list<const char*> activations) const {
        for (size_t i = 0; i < activations_.size(); ++i) {
            const char* expected = activations.begin()[i % activations.size()];
            if (activations_[i].clip > 0 || std::string{expected} != activations_[i].name) return {};
        }
        return FuseRecurrent(node, kind, reversed_);
    }

    // The parts of a direction that its steps use.
    struct Direction {
        int64_t index;
        int64_t units;
        Array recurrent;  // (gates units, units)
        Array bias;       // of the recurrent part
        const Activation* activations;
    };

    // Runs step(direction, projected input, states) over time; it changes the states.
    template <class Step>
    Arrays Run(const Inputs& in, Step&& step) const {
        Array x = layout_ ? Transpose(in[0], Axes{1, 0, 2}) : in[0];
        const Array& w = in[1];
        const Array& r = in[2];
        if (x.ndim() != 3 || w.ndim() != 3 || r.ndim() != 3)
            throw ModelError{"an operand does not have three dimensions"};
        int64_t units = r.shape()[2];
        int64_t rows = gates_ * units;
        auto directions = static_cast<int64_t>(reversed_.size());
        Array b = in.Has(3) ? in[3] : Zeros(Shape{directions, 2 * rows}, x.dtype(), x.device());
        bool fits = w.shape() == Shape{directions, rows, x.shape()[2]} && r.shape() == Shape{directions, rows, units} &&
                    (hidden_size_ < 0 || hidden_size_ == units) && b.shape() == Shape{directions, 2 * rows};
        if (!fits) throw ModelError{"the shapes of the weights are ", w.shape(), " and ", r.shape()};
        int64_t length = x.shape()[0];
        int64_t batch = x.shape()[1];
        Array length_column;
        if (in.Has(4)) {
            if (in[4].GetTotalSize() != batch) throw ModelError{in[4].GetTotalSize(), " lengths"};
            length_column = Reshape(Cast(in[4], Dtype::kInt64), Shape{batch, 1});
        }
        std::vector<Arrays> outputs(1 + n_states_);
        for (int64_t d = 0; d < directions; ++d) {
            Arrays biases = SplitAxis(At(b, {d}), 0, {rows, rows});
            Direction direction{d, units, AsContiguous(At(r, {d})), AsContiguous(biases[1]),
                                &activations_[d * activations_.size() / directions]};
            Array projected = Linear(x, At(w, {d}), AsContiguous(biases[0]), 2);
            Arrays states = InitialStates(in, n_states_, layout_, d, Shape{directions, batch, units}, x.dtype());
            Arrays steps(length);
            for (int64_t i = 0; i < length; ++i) {
                int64_t t = reversed_[d] ? length - 1 - i : i;
                Arrays old = states;
                step(direction, At(projected, {t}), &states);
                steps[t] = states[0];
                if (!length_column) continue;
                // Sequences that have ended keep their states and give zeros.
                Array on = Greater(length_column, Scalar{t});
                for (int s = 0; s < n_states_; ++s) states[s] = Where(on, states[s], old[s]);
                steps[t] = Where(on, states[0], Scalar{0});
            }
            bool is_empty = length == 0;
            outputs[0].push_back(is_empty ? Zeros(Shape{0, batch, units}, x.dtype(), x.device()) : Stack(steps, 0));
            for (int s = 0; s < n_states_; ++s) outputs[1 + s].push_back(states[s]);
        }
        return StackDirections(outputs, layout_);
    }

private:
    int gates_;
    int n_states_;
    bool layout_;
    int64_t hidden_size_;
    std::vector<bool> reversed_;
    std::vector<Activation> activations_;
};

Kernel Rnn(const Node& node) {
    Layer layer{node, 1, {"Tanh"}, 1};
    if (Kernel fused = layer.Fused(node, RnnKind::kTanh, {"tanh"})) return fused;
    if (Kernel fused = layer.Fused(node, RnnKind::kRelu, {"relu"})) return fused;
    return [layer](const Inputs& in) {
        return layer.Run(in, [](const Layer::Direction& d, const Array& gate, Arrays* s) {
            (*s)[0] = d.activations[0](gate + Linear((*s)[0], d.recurrent, d.bias));
        });
    };
}

Kernel Gru(const Node& node) {
    Layer layer{node, 3, {"Sigmoid", "Tanh"}, 1};
    if (Kernel fused = layer.Fused(node, RnnKind::kGru, {"sigmoid", "tanh"})) return fused;
    bool is_linear_first = node.Flag("linear_before_reset");
    return [layer, is_linear_first](const Inputs& in) {
        return layer.Run(in, [&](const Layer::Direction& d, const Array& x, Arrays* s) {
            const Array& h = (*s)[0];
            Ints sizes{2 * d.units, d.units};  // of the gates of update and reset, and what is hidden
            Arrays parts = SplitAxis(x, 1, sizes);
            Arrays w = SplitAxis(d.recurrent, 0, sizes);
            Arrays b = SplitAxis(d.bias, 0, sizes);
            Array both = d.activations[0](parts[0] + Linear(h, w[0], b[0]));
            Arrays gates = SplitAxis(both, 1, {d.units, d.units});
            const Array& reset = gates[1];
            Array inner = is_linear_first ? reset * Linear(h, w[1], b[1]) : Linear(reset * h, w[1], b[1]);
            Array candidate = d.activations[1](parts[1] + inner);
            (*s)[0] = (Scalar{1.0} - gates[0]) * candidate + gates[0] * h;
        });
    };
}

Kernel Lstm(const Node& node) {
    Layer layer{node, 4, {"Sigmoid", "Tanh", "Tanh"}, 2};
    if (Kernel fused = layer.Fused(node, RnnKind::kLstm, {"sigmoid", "tanh", "tanh"})) return fused;
    bool is_coupled = node.Flag("input_forget");
    return [layer, is_coupled](const Inputs& in) {
        return layer.Run(in, [&](const Layer::Direction& d, const Array& x, Arrays* s) {
            // Of input, output, forget and cell
            Arrays gates = SplitAxis(x + Linear((*s)[0], d.recurrent, d.bias), 1, Ints(4, d.units));
            Arrays peepholes;
            if (in.Has(7)) peepholes = SplitAxis(At(in[7], {d.index}), 0, Ints(3, d.units));
            const Activation* f = d.activations;
            auto gate = [&](int i, const Array& c) { return f[0](in.Has(7) ? gates[i] + c * peepholes[i] : gates[i]); };
            Array enter = gate(0, (*s)[1]);
            Array keep = is_coupled ? Scalar{1.0} - enter : gate(2, (*s)[1]);
            (*s)[1] = keep * (*s)[1] + enter * f[1](gates[3]);
            (*s)[0] = gate(1, (*s)[1]) * f[2]((*s)[1]);
        });
    };
}

}  // namespace

const OperatorTable kRecurrentOperators = {
        {"GRU", Gru},
        {"LSTM", Lstm},
        {"RNN", Rnn},
};

}  // namespace chainerx::onnx
