// Recurrent cells: one thread for each unit of each sequence.

#include <vector>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/rnn.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/ops/math.h"
#include "chainerx/ops/rnn.h"

namespace chainerx::cuda {
namespace {

template <class T>
__device__ auto Read(const T* p) {
    return static_cast<typename ComputeType<T>::type>(*p);
}
template <class T, class C>
__device__ void Write(T* p, C value) {
    *p = Convert<C, T>(value);
}

// The place of gate g of a unit: first + g * step.
struct GatePlace {
    int64_t first;
    int64_t step;

    __device__ GatePlace(int64_t i, int64_t units, int64_t n_gates, Gates gates)
        : first{gates == Gates::kInterleaved ? i * n_gates : i / units * units * n_gates + i % units},
          step{gates == Gates::kInterleaved ? 1 : units} {}
    __device__ int64_t operator[](int g) const { return first + g * step; }
};

template <class T>
__global__ void LstmUnits(int64_t n, int64_t units, Gates gates, const T* c_prev, const T* x, T* c, T* h) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    GatePlace gate{i, units, 4, gates};
    auto candidate = math::Tanh(Read(x + gate[0]));
    auto cell = math::Sigmoid(Read(x + gate[2])) * Read(c_prev + i) + math::Sigmoid(Read(x + gate[1])) * candidate;
    Write(c + i, cell);
    Write(h + i, math::Sigmoid(Read(x + gate[3])) * math::Tanh(cell));
}

// gc and gh may be null, for zero; gc_prev may be gc.
template <class T>
__global__ void LstmGradUnits(int64_t n, int64_t units, Gates gates, const T* c_prev, const T* x, const T* c,
                              const T* gc, const T* gh, T* gc_prev, T* gx) {
    using C = typename ComputeType<T>::type;
    int64_t k = ThreadIndex();
    if (k >= n) return;
    GatePlace gate{k, units, 4, gates};
    C a = math::Tanh(Read(x + gate[0]));
    C i = math::Sigmoid(Read(x + gate[1]));
    C f = math::Sigmoid(Read(x + gate[2]));
    C o = math::Sigmoid(Read(x + gate[3]));
    C t = math::Tanh(Read(c + k));
    C g = gh == nullptr ? C{0} : Read(gh + k);
    C cell = (gc == nullptr ? C{0} : Read(gc + k)) + g * o * (1 - t * t);
    Write(gx + gate[0], cell * i * (1 - a * a));
    Write(gx + gate[1], cell * a * i * (1 - i));
    Write(gx + gate[2], cell * Read(c_prev + k) * f * (1 - f));
    Write(gx + gate[3], g * t * o * (1 - o));
    Write(gc_prev + k, cell * f);
}

// One gate or state of a cell with several children: that of unit u in row b is at data[b * row + u * unit].
template <class T>
struct Part {
    T* data;
    int64_t row;
    int64_t unit;
    __device__ T* At(int64_t i, int64_t units) const { return data + i / units * row + i % units * unit; }
};

// The parts of such a cell, in one array in the memory of the device: `a` and `i` of the inputs, `f` and `c` of the
// children, `o` of the outputs.
//   c = sum_j tanh(a_j) sigmoid(i_j) + sum_k sigmoid(f_k) c_k,  h = sigmoid(sum_l o_l) tanh(c)
template <class T>
struct Parts {
    int64_t inputs;
    int64_t children;
    int64_t outputs;
    const Part<T>* all;
    __device__ const Part<T>& a(int64_t j) const { return all[j]; }
    __device__ const Part<T>& i(int64_t j) const { return all[inputs + j]; }
    __device__ const Part<T>& f(int64_t k) const { return all[2 * inputs + k]; }
    __device__ const Part<T>& c(int64_t k) const { return all[2 * inputs + children + k]; }
    __device__ const Part<T>& o(int64_t l) const { return all[2 * inputs + 2 * children + l]; }
};

template <class T>
__global__ void TreeLstmUnits(int64_t n, int64_t units, Parts<T> x, T* c, T* h) {
    using C = typename ComputeType<T>::type;
    int64_t k = ThreadIndex();
    if (k >= n) return;
    C cell{0};
    for (int64_t j = 0; j < x.inputs; ++j) {
        cell += math::Tanh(Read(x.a(j).At(k, units))) * math::Sigmoid(Read(x.i(j).At(k, units)));
    }
    for (int64_t j = 0; j < x.children; ++j) {
        cell += math::Sigmoid(Read(x.f(j).At(k, units))) * Read(x.c(j).At(k, units));
    }
    C output{0};
    for (int64_t j = 0; j < x.outputs; ++j) output += Read(x.o(j).At(k, units));
    Write(c + k, cell);
    Write(h + k, math::Sigmoid(output) * math::Tanh(cell));
}

template <class T>
__global__ void TreeLstmGradUnits(int64_t n, int64_t units, Parts<T> x, const T* c, const T* gc, const T* gh,
                                  Parts<T> gx) {
    using C = typename ComputeType<T>::type;
    int64_t k = ThreadIndex();
    if (k >= n) return;
    C output{0};
    for (int64_t j = 0; j < x.outputs; ++j) output += Read(x.o(j).At(k, units));
    C o = math::Sigmoid(output);
    C t = math::Tanh(Read(c + k));
    C g = gh == nullptr ? C{0} : Read(gh + k);
    C cell = (gc == nullptr ? C{0} : Read(gc + k)) + g * o * (1 - t * t);
    for (int64_t j = 0; j < x.outputs; ++j) Write(gx.o(j).At(k, units), g * t * o * (1 - o));
    for (int64_t j = 0; j < x.inputs; ++j) {
        C a = math::Tanh(Read(x.a(j).At(k, units)));
        C i = math::Sigmoid(Read(x.i(j).At(k, units)));
        Write(gx.a(j).At(k, units), cell * i * (1 - a * a));
        Write(gx.i(j).At(k, units), cell * a * i * (1 - i));
    }
    for (int64_t j = 0; j < x.children; ++j) {
        C f = math::Sigmoid(Read(x.f(j).At(k, units)));
        C child = Read(x.c(j).At(k, units));
        Write(gx.f(j).At(k, units), cell * child * f * (1 - f));
        Write(gx.c(j).At(k, units), cell * f);
    }
}

template <class T>
__global__ void GruUnits(int64_t n, int64_t units, const T* x, const T* s, const T* h_prev, T* h) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    GatePlace gate{i, units, 3, Gates::kBlocks};
    auto r = math::Sigmoid(Read(x + gate[0]) + Read(s + gate[0]));
    auto z = math::Sigmoid(Read(x + gate[1]) + Read(s + gate[1]));
    auto a = math::Tanh(Read(x + gate[2]) + r * Read(s + gate[2]));
    Write(h + i, (1 - z) * a + z * Read(h_prev + i));
}

template <class T>
__global__ void GruGradUnits(int64_t n, int64_t units, const T* x, const T* s, const T* h_prev, const T* gh, T* gx,
                             T* gs, T* gh_prev) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    GatePlace gate{i, units, 3, Gates::kBlocks};
    auto r = math::Sigmoid(Read(x + gate[0]) + Read(s + gate[0]));
    auto z = math::Sigmoid(Read(x + gate[1]) + Read(s + gate[1]));
    auto state = Read(s + gate[2]);
    auto a = math::Tanh(Read(x + gate[2]) + r * state);
    auto g = Read(gh + i);
    auto ga = g * (1 - z) * (1 - a * a);
    auto gr = ga * state * r * (1 - r);
    auto gz = g * (Read(h_prev + i) - a) * z * (1 - z);
    Write(gx + gate[0], gr);
    Write(gx + gate[1], gz);
    Write(gx + gate[2], ga);
    Write(gs + gate[0], gr);
    Write(gs + gate[1], gz);
    Write(gs + gate[2], ga * r);
    Write(gh_prev + i, z * g);
}

template <class T>
__global__ void SimpleUnits(int64_t n, bool relu, const T* x, T* y) {
    int64_t i = ThreadIndex();
    if (i >= n) return;
    auto v = Read(x + i);
    Write(y + i, relu ? math::Max(v, decltype(v){0}) : math::Tanh(v));
}

template <class T>
__global__ void SimpleGradUnits(int64_t n, bool relu, const T* y, const T* gy, T* gx) {
    using C = typename ComputeType<T>::type;
    int64_t i = ThreadIndex();
    if (i >= n) return;
    C v = Read(y + i);
    Write(gx + i, Read(gy + i) * (relu ? (v > 0 ? C{1} : C{0}) : 1 - v * v));
}

template <class T>
__global__ void AddElements(int64_t n, T* a, const T* b) {
    int64_t i = ThreadIndex();
    if (i < n) Write(a + i, Read(a + i) + Read(b + i));
}

// Launches `kernel<T>` with a thread for each element of `states`.
#define CHAINERX_LAUNCH_CELL(what, states, kernel, ...)                                                \
    VisitFloatDtype((states).dtype(), [&](auto tag) {                                                  \
        using T = typename decltype(tag)::type;                                                        \
        int64_t n = (states).GetTotalSize();                                                           \
        if (n != 0) Launch(what, (states).device(), BlocksFor(n), kBlock, &kernel<T>, n, __VA_ARGS__); \
    })

void Lstm(const Array& c_prev, const Array& x, Gates gates, const Array& c, const Array& h) {
    CHAINERX_LAUNCH_CELL("lstm", c, LstmUnits, c.shape()[1], gates, c_prev.data<T>(), x.data<T>(), c.data<T>(),
                         h.data<T>());
}

void LstmGrad(const Array& c_prev, const Array& x, Gates gates, const Array& c, const Array& gc, const Array& gh,
              const Array& gc_prev, const Array& gx) {
    CHAINERX_LAUNCH_CELL("lstm", c, LstmGradUnits, c.shape()[1], gates, c_prev.data<T>(), x.data<T>(), c.data<T>(),
                         DataOrNull<T>(gc), DataOrNull<T>(gh), gc_prev.data<T>(), gx.data<T>());
}

// The parts of a cell, and their memory.
template <class T>
class PartsOnDevice {
public:
    PartsOnDevice(const std::vector<Array>& cs, const std::vector<Array>& xs) {
        Device& device = cs[0].device();
        int64_t units = cs[0].shape()[1];
        auto children = static_cast<int64_t>(cs.size());
        auto inputs = static_cast<int64_t>(xs.size());
        bool in_blocks = inputs == 1;
        std::vector<Part<T>> all;
        auto add_gate = [&](const Array& x, int64_t gate) {
            if (in_blocks) {
                all.push_back({x.data<T>() + gate * units, (children + 3) * units, 1});
            } else {
                all.push_back({x.data<T>() + gate, 4 * units, 4});
            }
        };
        for (const Array& x : xs) add_gate(x, 0);
        for (const Array& x : xs) add_gate(x, 1);
        for (int64_t k = 0; k < children; ++k) in_blocks ? add_gate(xs[0], 3 + k) : add_gate(xs[k], 2);
        for (const Array& c : cs) all.push_back({c.data<T>(), units, 1});
        for (const Array& x : xs) add_gate(x, in_blocks ? 2 : 3);
        memory_ = device.Allocate(all.size() * sizeof(Part<T>));
        device.CopyFromHost(memory_->data(), all.data(), all.size() * sizeof(Part<T>));
        parts_ = {inputs, children, inputs, static_cast<const Part<T>*>(memory_->data())};
    }
    const Parts<T>& get() const { return parts_; }

private:
    StoragePtr memory_;
    Parts<T> parts_;
};

void TreeLstm(const std::vector<Array>& c_prevs, const std::vector<Array>& xs, const Array& c, const Array& h) {
    CHAINERX_LAUNCH_CELL("tree_lstm", c, TreeLstmUnits, c.shape()[1], PartsOnDevice<T>(c_prevs, xs).get(), c.data<T>(),
                         h.data<T>());
}

void TreeLstmGrad(const std::vector<Array>& c_prevs, const std::vector<Array>& xs, const Array& c, const Array& gc,
                  const Array& gh, const std::vector<Array>& grads) {
    auto middle = grads.begin() + static_cast<std::ptrdiff_t>(c_prevs.size());
    std::vector<Array> gc_prevs{grads.begin(), middle};
    std::vector<Array> gxs{middle, grads.end()};
    CHAINERX_LAUNCH_CELL("tree_lstm", c, TreeLstmGradUnits, c.shape()[1], PartsOnDevice<T>(c_prevs, xs).get(),
                         c.data<T>(), DataOrNull<T>(gc), DataOrNull<T>(gh), PartsOnDevice<T>(gc_prevs, gxs).get());
}

}  // namespace

void Gru(const Array& x, const Array& s, const Array& h_prev, const Array& h) {
    CHAINERX_LAUNCH_CELL("gru", h, GruUnits, h.shape()[1], x.data<T>(), s.data<T>(), h_prev.data<T>(), h.data<T>());
}

void GruGrad(const Array& x, const Array& s, const Array& h_prev, const Array& gh, const Array& gx, const Array& gs,
             const Array& gh_prev) {
    CHAINERX_LAUNCH_CELL("gru", gh, GruGradUnits, gh.shape()[1], x.data<T>(), s.data<T>(), h_prev.data<T>(),
                         gh.data<T>(), gx.data<T>(), gs.data<T>(), gh_prev.data<T>());
}

void SimpleRnn(bool relu, const Array& x, const Array& y) {
    CHAINERX_LAUNCH_CELL("rnn", y, SimpleUnits, relu, x.data<T>(), y.data<T>());
}

void SimpleRnnGrad(bool relu, const Array& y, const Array& gy, const Array& gx) {
    CHAINERX_LAUNCH_CELL("rnn", y, SimpleGradUnits, relu, y.data<T>(), gy.data<T>(), gx.data<T>());
}

void AddInto(const Array& a, const Array& b) { CHAINERX_LAUNCH_CELL("add", a, AddElements, a.data<T>(), b.data<T>()); }

const CudaKernels g_rnn_kernels{[](Backend& backend) {
    kLstmKernel.Register(backend, &Lstm);
    kLstmGradKernel.Register(backend, &LstmGrad);
    kTreeLstmKernel.Register(backend, &TreeLstm);
    kTreeLstmGradKernel.Register(backend, &TreeLstmGrad);
}};

}  // namespace chainerx::cuda
