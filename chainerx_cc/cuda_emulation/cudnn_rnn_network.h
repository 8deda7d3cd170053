#pragma once

// Recurrent networks of the stand-in for cuDNN: each sequence on its own, step by step.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {

struct RnnStruct {
    CellMode cell;
    DataType type;
    int64_t inputs, units, layers, directions;

    int64_t gates() const {
        if (cell == CellMode::kLstm) return 4;
        return cell == CellMode::kGru ? 3 : 1;
    }
    int64_t cells() const { return layers * directions; }
    int64_t width(int64_t layer) const { return layer == 0 ? inputs : directions * units; }
};
struct RnnDataStruct {
    DataType type;
    int64_t width;
    Sizes lengths;

    // Of each time step the first row and the number of rows.
    std::vector<std::pair<int64_t, int64_t>> steps() const {
        std::vector<std::pair<int64_t, int64_t>> all;
        int64_t start = 0;
        for (int t = 0; t < lengths.front(); ++t) {
            int64_t n = std::count_if(lengths.begin(), lengths.end(), [t](int length) { return length > t; });
            all.emplace_back(start, n);
            start += n;
        }
        return all;
    }
    int64_t rows() const { return steps().back().first + steps().back().second; }
};

using Values = std::vector<double>;

inline int64_t SizeOf(DataType type) { return type == DataType::kFloat64 ? 8 : 4; }

// Elements before each matrix and bias that belong to none, so that places cannot be guessed.
constexpr int64_t kGap = 3;

// Calls f(cell, gate, first element of the matrix, its columns, first element of the bias) for all parameters, the last
// cell first. Returns the number of elements.
template <class F>
int64_t ForParameters(const RnnStruct& rnn, F&& f) {
    int64_t next = 0;
    for (int64_t cell = rnn.cells() - 1; cell >= 0; --cell) {
        for (int64_t gate = 0; gate < 2 * rnn.gates(); ++gate) {
            int64_t columns = gate < rnn.gates() ? rnn.width(cell / rnn.directions) : rnn.units;
            int64_t bias = next + kGap;
            int64_t matrix = bias + rnn.units + kGap;
            f(cell, gate, matrix, columns, bias);
            next = matrix + rnn.units * columns;
        }
    }
    return next;
}

struct Parameter {
    int64_t matrix, columns, bias;
};

// What the steps of one cell leave for its gradients. Rows are those of the joined time steps.
struct Trace {
    Trace(int64_t rows, int64_t units, int64_t gates)
        : activations(rows * gates * units), products(rows * units), c(rows * units), h(rows * units) {}
    Values activations;  // (rows, gates, units)
    Values products;     // GRU: of the state and the matrix of the candidate
    Values c;
    Values h;
};

// A network and its sequences.
class Network {
public:
    Network(const RnnStruct& rnn, const RnnDataStruct& rows)
        : rnn_{rnn}, lengths_{rows.lengths}, steps_{rows.steps()}, rows_{rows.rows()} {
        parameters_.resize(rnn.cells() * 2 * rnn.gates());
        ForParameters(rnn, [&](int64_t cell, int64_t gate, int64_t matrix, int64_t columns, int64_t bias) {
            parameters_[cell * 2 * rnn.gates() + gate] = {matrix, columns, bias};
        });
    }

    // (cells, rows, gates + 3 of a state each), after the number that tells what is there.
    int64_t CountReserve() const { return 1 + rnn_.cells() * rows_ * rnn_.units * (rnn_.gates() + 3); }

    void Forward(const Elements& weights, const Elements& x, const Elements& h0, const Elements& c0, const Elements& y,
                 const Elements& h, const Elements& c, double* reserve) const {
        Values in = Load(x, rows_ * rnn_.inputs);
        std::vector<Trace> traces;
        for (int64_t layer = 0; layer < rnn_.layers; ++layer) {
            for (int64_t d = 0; d < rnn_.directions; ++d) {
                traces.push_back(RunCell(weights, layer * rnn_.directions + d, in, h0, c0, h, c));
            }
            in = JoinOutputs(traces, layer);
        }
        for (size_t i = 0; i < in.size(); ++i) y.Set(static_cast<int64_t>(i), in[i]);
        if (reserve != nullptr) Keep(traces, kForward, reserve);
    }

    // NaN if the reserve is not that of a forward pass.
    void BackwardData(const Elements& weights, const Elements& h0, const Elements& c0, const Elements& gy,
                      const Elements& gh, const Elements& gc, const Elements& gx, const Elements& gh0,
                      const Elements& gc0, double* reserve) const {
        double factor = reserve[0] == kForward ? 1 : std::nan("");
        std::vector<Trace> traces = Recall(reserve);
        Values g_out = Load(gy, rows_ * rnn_.directions * rnn_.units);
        for (double& g : g_out) g *= factor;
        for (int64_t layer = rnn_.layers - 1; layer >= 0; --layer) {
            Values g_in(rows_ * rnn_.width(layer));
            for (int64_t d = 0; d < rnn_.directions; ++d) {
                int64_t cell = layer * rnn_.directions + d;
                Differentiate(weights, cell, g_out, h0, c0, gh, gc, &traces[cell], &g_in, gh0, gc0);
            }
            g_out = std::move(g_in);
        }
        for (size_t i = 0; i < g_out.size(); ++i) gx.Set(static_cast<int64_t>(i), g_out[i]);
        Keep(traces, kBackward, reserve);
    }

    // After BackwardData, which has put gradients in the place of activations.
    void BackwardWeights(const Elements& x, const Elements& h0, const Elements& gweights, const double* reserve) const {
        double factor = reserve[0] == kBackward ? 1 : std::nan("");
        std::vector<Trace> traces = Recall(reserve);
        Values in = Load(x, rows_ * rnn_.inputs);
        for (int64_t layer = 0; layer < rnn_.layers; ++layer) {
            for (int64_t d = 0; d < rnn_.directions; ++d) {
                AddWeightGrads(layer * rnn_.directions + d, in, h0, traces[layer * rnn_.directions + d], factor,
                               gweights);
            }
            in = JoinOutputs(traces, layer);
        }
    }

private:
    static constexpr double kForward = 1;
    static constexpr double kBackward = 2;

    static Values Load(const Elements& from, int64_t n) {
        Values values(n);
        for (int64_t i = 0; i < n; ++i) values[i] = from[i];
        return values;
    }
    static double LoadOrZero(const Elements& from, int64_t i) { return from.data == nullptr ? 0 : from[i]; }

    const Parameter& Get(int64_t cell, int64_t gate) const { return parameters_[cell * 2 * rnn_.gates() + gate]; }

    // The rows of a sequence in the order of a cell's steps.
    std::vector<int64_t> GetRows(int64_t cell, size_t sequence) const {
        std::vector<int64_t> rows;
        for (int t = 0; t < lengths_[sequence]; ++t) {
            rows.push_back(steps_[t].first + static_cast<int64_t>(sequence));
        }
        if (cell % rnn_.directions == 1) std::reverse(rows.begin(), rows.end());
        return rows;
    }

    Values JoinOutputs(const std::vector<Trace>& traces, int64_t layer) const {
        Values joined;
        for (int64_t row = 0; row < rows_; ++row) {
            for (int64_t d = 0; d < rnn_.directions; ++d) {
                auto begin = traces[layer * rnn_.directions + d].h.begin() + row * rnn_.units;
                joined.insert(joined.end(), begin, begin + rnn_.units);
            }
        }
        return joined;
    }

    // A row of a matrix times a vector, and the bias.
    static double Product(const Elements& weights, const Parameter& p, int64_t unit, const double* vector) {
        double sum = weights[p.bias + unit];
        for (int64_t i = 0; i < p.columns; ++i) sum += weights[p.matrix + unit * p.columns + i] * vector[i];
        return sum;
    }

    static double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

    Trace RunCell(const Elements& weights, int64_t cell, const Values& in, const Elements& h0, const Elements& c0,
                  const Elements& h_last, const Elements& c_last) const {
        int64_t units = rnn_.units;
        int64_t gates = rnn_.gates();
        int64_t width = rnn_.width(cell / rnn_.directions);
        Trace trace{rows_, units, gates};
        for (size_t sequence = 0; sequence < lengths_.size(); ++sequence) {
            int64_t state = (cell * static_cast<int64_t>(lengths_.size()) + static_cast<int64_t>(sequence)) * units;
            Values h(units);
            Values c(units);
            for (int64_t u = 0; u < units; ++u) {
                h[u] = LoadOrZero(h0, state + u);
                c[u] = LoadOrZero(c0, state + u);
            }
            for (int64_t row : GetRows(cell, sequence)) {
                Values next(units);
                for (int64_t u = 0; u < units; ++u) {
                    double a[4];
                    double s[4];
                    for (int64_t k = 0; k < gates; ++k) {
                        a[k] = Product(weights, Get(cell, k), u, &in[row * width]);
                        s[k] = Product(weights, Get(cell, gates + k), u, h.data());
                    }
                    double* g = &trace.activations[row * gates * units + u];
                    next[u] = Step(a, s, h[u], &c[u], g, &trace.products[row * units + u]);
                    trace.c[row * units + u] = c[u];
                    trace.h[row * units + u] = next[u];
                }
                h = next;
            }
            for (int64_t u = 0; u < units; ++u) {
                if (h_last.data != nullptr) h_last.Set(state + u, h[u]);
                if (c_last.data != nullptr) c_last.Set(state + u, c[u]);
            }
        }
        return trace;
    }

    // The new state of a unit from the products with the input and the state. `g` has a gate each `units` elements.
    double Step(const double* a, const double* s, double h, double* c, double* g, double* product) const {
        int64_t n = rnn_.units;
        switch (rnn_.cell) {
            case CellMode::kLstm:
                for (int k : {0, 1, 3}) g[k * n] = Sigmoid(a[k] + s[k]);
                g[2 * n] = std::tanh(a[2] + s[2]);
                *c = g[n] * *c + g[0] * g[2 * n];
                return g[3 * n] * std::tanh(*c);
            case CellMode::kGru:
                for (int k : {0, 1}) g[k * n] = Sigmoid(a[k] + s[k]);
                *product = s[2];
                g[2 * n] = std::tanh(a[2] + g[0] * s[2]);
                return (1 - g[n]) * g[2 * n] + g[n] * h;
            case CellMode::kTanh:
                return g[0] = std::tanh(a[0] + s[0]);
            default:
                return g[0] = std::max(0.0, a[0] + s[0]);
        }
    }

    // Replaces activations by the gradients of the products with the input, and `products` by that of the product with
    // the state where it is another one.
    double StepGrad(double gh, double* gc, double h, double c, double c_prev, double* g, double* product) const {
        int64_t n = rnn_.units;
        switch (rnn_.cell) {
            case CellMode::kLstm: {
                double i = g[0];
                double f = g[n];
                double a = g[2 * n];
                double o = g[3 * n];
                double t = std::tanh(c);
                double total = *gc + gh * o * (1 - t * t);
                g[0] = total * a * i * (1 - i);
                g[n] = total * c_prev * f * (1 - f);
                g[2 * n] = total * i * (1 - a * a);
                g[3 * n] = gh * t * o * (1 - o);
                *gc = total * f;
                return 0;
            }
            case CellMode::kGru: {
                double r = g[0];
                double z = g[n];
                double a = g[2 * n];
                g[2 * n] = gh * (1 - z) * (1 - a * a);
                g[n] = gh * (h - a) * z * (1 - z);
                g[0] = g[2 * n] * *product * r * (1 - r);
                *product = g[2 * n] * r;
                return gh * z;
            }
            case CellMode::kTanh:
                g[0] = gh * (1 - g[0] * g[0]);
                return 0;
            default:
                g[0] = g[0] > 0 ? gh : 0;
                return 0;
        }
    }

    // The gradient of a product with the state.
    double StateGrad(const Trace& trace, int64_t row, int64_t gate, int64_t unit) const {
        if (rnn_.cell == CellMode::kGru && gate == 2) return trace.products[row * rnn_.units + unit];
        return trace.activations[(row * rnn_.gates() + gate) * rnn_.units + unit];
    }

    void Differentiate(const Elements& weights, int64_t cell, const Values& g_out, const Elements& h0,
                       const Elements& c0, const Elements& gh_last, const Elements& gc_last, Trace* trace, Values* g_in,
                       const Elements& gh0, const Elements& gc0) const {
        int64_t units = rnn_.units;
        int64_t gates = rnn_.gates();
        int64_t width = rnn_.width(cell / rnn_.directions);
        int64_t d = cell % rnn_.directions;
        for (size_t sequence = 0; sequence < lengths_.size(); ++sequence) {
            int64_t state = (cell * static_cast<int64_t>(lengths_.size()) + static_cast<int64_t>(sequence)) * units;
            Values gh(units);
            Values gc(units);
            for (int64_t u = 0; u < units; ++u) {
                gh[u] = LoadOrZero(gh_last, state + u);
                gc[u] = LoadOrZero(gc_last, state + u);
            }
            std::vector<int64_t> rows = GetRows(cell, sequence);
            for (size_t i = rows.size(); i-- > 0;) {
                int64_t row = rows[i];
                Values gh_prev(units);
                for (int64_t u = 0; u < units; ++u) {
                    double h = i == 0 ? LoadOrZero(h0, state + u) : trace->h[rows[i - 1] * units + u];
                    double c_prev = i == 0 ? LoadOrZero(c0, state + u) : trace->c[rows[i - 1] * units + u];
                    gh_prev[u] =
                            StepGrad(gh[u] + g_out[(row * rnn_.directions + d) * units + u], &gc[u], h,
                                     trace->c[row * units + u], c_prev, &trace->activations[row * gates * units + u],
                                     &trace->products[row * units + u]);
                }
                for (int64_t k = 0; k < gates; ++k) {
                    for (int64_t u = 0; u < units; ++u) {
                        double ga = trace->activations[(row * gates + k) * units + u];
                        double gs = StateGrad(*trace, row, k, u);
                        const Parameter& w = Get(cell, k);
                        const Parameter& r = Get(cell, gates + k);
                        for (int64_t j = 0; j < width; ++j) {
                            (*g_in)[row * width + j] += ga * weights[w.matrix + u * width + j];
                        }
                        for (int64_t j = 0; j < units; ++j) gh_prev[j] += gs * weights[r.matrix + u * units + j];
                    }
                }
                gh = gh_prev;
            }
            for (int64_t u = 0; u < units; ++u) {
                if (gh0.data != nullptr) gh0.Set(state + u, gh[u]);
                if (gc0.data != nullptr) gc0.Set(state + u, gc[u]);
            }
        }
    }

    void AddWeightGrads(int64_t cell, const Values& in, const Elements& h0, const Trace& trace, double factor,
                        const Elements& gweights) const {
        int64_t units = rnn_.units;
        int64_t gates = rnn_.gates();
        int64_t width = rnn_.width(cell / rnn_.directions);
        auto add = [&](int64_t i, double value) { gweights.Set(i, gweights[i] + factor * value); };
        for (size_t sequence = 0; sequence < lengths_.size(); ++sequence) {
            int64_t state = (cell * static_cast<int64_t>(lengths_.size()) + static_cast<int64_t>(sequence)) * units;
            std::vector<int64_t> rows = GetRows(cell, sequence);
            for (size_t i = 0; i < rows.size(); ++i) {
                for (int64_t k = 0; k < gates; ++k) {
                    const Parameter& w = Get(cell, k);
                    const Parameter& r = Get(cell, gates + k);
                    for (int64_t u = 0; u < units; ++u) {
                        double ga = trace.activations[(rows[i] * gates + k) * units + u];
                        double gs = StateGrad(trace, rows[i], k, u);
                        add(w.bias + u, ga);
                        add(r.bias + u, gs);
                        for (int64_t j = 0; j < width; ++j) add(w.matrix + u * width + j, ga * in[rows[i] * width + j]);
                        for (int64_t j = 0; j < units; ++j) {
                            double h = i == 0 ? LoadOrZero(h0, state + j) : trace.h[rows[i - 1] * units + j];
                            add(r.matrix + u * units + j, gs * h);
                        }
                    }
                }
            }
        }
    }

    void Keep(const std::vector<Trace>& traces, double what, double* reserve) const {
        *reserve++ = what;
        for (const Trace& trace : traces) {
            for (const Values* values : {&trace.activations, &trace.products, &trace.c, &trace.h}) {
                reserve = std::copy(values->begin(), values->end(), reserve);
            }
        }
    }
    std::vector<Trace> Recall(const double* reserve) const {
        ++reserve;
        std::vector<Trace> traces;
        for (int64_t cell = 0; cell < rnn_.cells(); ++cell) {
            Trace trace{rows_, rnn_.units, rnn_.gates()};
            for (Values* values : {&trace.activations, &trace.products, &trace.c, &trace.h}) {
                std::copy_n(reserve, values->size(), values->begin());
                reserve += values->size();
            }
            traces.push_back(std::move(trace));
        }
        return traces;
    }

    RnnStruct rnn_;
    Sizes lengths_;
    std::vector<std::pair<int64_t, int64_t>> steps_;
    int64_t rows_;
    std::vector<Parameter> parameters_;
};

}  // namespace chainerx::cuda::cudnn
