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
        per_direction_ = static_cast<int>(defaults.size());
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
        int index;
        int64_t units;
        Array recurrent;            // (gates units, units)
        std::optional<Array> bias;  // of the recurrent part
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
        auto directions = static_cast<int64_t>(reversed_.size());
        bool fits = w.shape() == Shape{directions, gates_ * units, x.shape()[2]} &&
                    r.shape() == Shape{directions, gates_ * units, units} &&
                    (hidden_size_ < 0 || hidden_size_ == units) &&
                    (!in.Has(3) || in[3].shape() == Shape{directions, 2 * gates_ * units});
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
            auto row = [d](const Array& a) { return At(a, {d}); };
            Direction direction{static_cast<int>(d), units, AsContiguous(row(r)), std::nullopt,
                                &activations_[d * per_direction_]};
            std::optional<Array> bias;
            if (in.Has(3)) {
                bias = AsContiguous(SliceAxis(row(in[3]), 0, 0, gates_ * units));
                direction.bias = AsContiguous(SliceAxis(row(in[3]), 0, gates_ * units, 2 * gates_ * units));
            }
            Array projected = Reshape(Linear(Reshape(x, Shape{length * batch, x.shape()[2]}), row(w), bias),
                                      Shape{length, batch, gates_ * units});
            Shape shape{directions, batch, units};
            Arrays states = InitialStates(in, n_states_, layout_, d, shape, x.dtype());
            Arrays steps(length);
            for (int64_t i = 0; i < length; ++i) {
                int64_t t = reversed_[d] ? length - 1 - i : i;
                Arrays old = length_column ? states : Arrays{};
                step(direction, At(projected, {t}), &states);
                steps[t] = states[0];
                if (length_column) {
                    // Sequences that have ended keep their states and give zeros.
                    Array on = Greater(length_column, Scalar{t});
                    for (int s = 0; s < n_states_; ++s) states[s] = Where(on, states[s], old[s]);
                    steps[t] = Where(on, states[0], Scalar{0});
                }
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
    int per_direction_;
};

// The part of a gate or some gates.
Array Gate(const Array& a, int64_t units, int64_t first, int64_t count = 1) {
    return SliceAxis(a, a.ndim() - 1, first * units, (first + count) * units);
}

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
        return layer.Run(in, [&](const Layer::Direction& d, const Array& gate, Arrays* s) {
            const Array& h = (*s)[0];
            int64_t u = d.units;
            auto rows = [u](const Array& a, int64_t first, int64_t count) {
                return SliceAxis(a, 0, first * u, (first + count) * u);
            };
            auto bias = [&](int64_t first, int64_t count) {
                return d.bias ? std::optional{rows(*d.bias, first, count)} : std::nullopt;
            };
            Array both = d.activations[0](Gate(gate, u, 0, 2) + Linear(h, rows(d.recurrent, 0, 2), bias(0, 2)));
            Array update = Gate(both, u, 0);
            Array reset = Gate(both, u, 1);
            Array w = rows(d.recurrent, 2, 1);
            Array inner = is_linear_first ? reset * Linear(h, w, bias(2, 1)) : Linear(reset * h, w, bias(2, 1));
            Array candidate = d.activations[1](Gate(gate, u, 2) + inner);
            (*s)[0] = (Scalar{1.0} - update) * candidate + update * h;
        });
    };
}

Kernel Lstm(const Node& node) {
    Layer layer{node, 4, {"Sigmoid", "Tanh", "Tanh"}, 2};
    if (Kernel fused = layer.Fused(node, RnnKind::kLstm, {"sigmoid", "tanh", "tanh"})) return fused;
    bool is_coupled = node.Flag("input_forget");
    return [layer, is_coupled](const Inputs& in) {
        return layer.Run(in, [&](const Layer::Direction& d, const Array& gate, Arrays* s) {
            int64_t u = d.units;
            Array c = (*s)[1];
            Array a = gate + Linear((*s)[0], d.recurrent, d.bias);
            auto peep = [&](const Array& x, int64_t i) {
                if (!in.Has(7)) return x;
                return x + c * Gate(At(in[7], {static_cast<int64_t>(d.index)}), u, i);
            };
            const Activation* f = d.activations;
            Array enter = f[0](peep(Gate(a, u, 0), 0));
            Array keep = is_coupled ? Scalar{1.0} - enter : f[0](peep(Gate(a, u, 2), 2));
            c = keep * c + enter * f[1](Gate(a, u, 3));
            Array out = f[0](peep(Gate(a, u, 1), 1));
            (*s)[0] = out * f[2](c);
            (*s)[1] = c;
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
