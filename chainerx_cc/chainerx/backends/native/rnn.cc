// Recurrent cells on arrays.

#include "chainerx/ops/rnn.h"

#include <vector>

#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The number of gates above which the interpreter lock is released.
constexpr int64_t kRnnBlocking = 8192;

GateLayout MakeLayout(int64_t units, Gates gates) {
    if (gates == Gates::kInterleaved) return {4 * units, 4, {0, 1, 2, 3}};
    return {4 * units, 1, {0, units, 2 * units, 3 * units}};
}

void Lstm(const Array& c_prev_, const Array& x_, Gates gates, const Array& c_, const Array& h_) {
    int64_t batch = c_.shape()[0];
    int64_t units = c_.shape()[1];
    GateLayout layout = MakeLayout(units, gates);
    Dtype dtype = GetComputeDtype(c_.dtype());
    Array c_prev = Input(c_prev_, dtype);
    Array x = Input(x_, dtype);
    Output c{c_, dtype};
    Output h{h_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kRnnBlocking};
        LstmForward<T>(batch, units, layout, x.data<T>(), c_prev.data<T>(), c.template data<T>(), h.template data<T>());
    });
    c.Finish();
    h.Finish();
}

void LstmGrad(const Array& c_prev_, const Array& x_, Gates gates, const Array& c_, const Array& gc_, const Array& gh_,
              const Array& gc_prev_, const Array& gx_) {
    int64_t batch = c_.shape()[0];
    int64_t units = c_.shape()[1];
    GateLayout layout = MakeLayout(units, gates);
    Dtype dtype = GetComputeDtype(c_.dtype());
    Array c_prev = Input(c_prev_, dtype);
    Array x = Input(x_, dtype);
    Array c = Input(c_, dtype);
    Array gc = gc_ ? Input(gc_, dtype) : gc_;
    Array gh = gh_ ? Input(gh_, dtype) : gh_;
    Output gc_prev{gc_prev_, dtype};
    Output gx{gx_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kRnnBlocking};
        LstmBackward<T>(batch, units, layout, x.data<T>(), c_prev.data<T>(), c.template data<T>(),
                        gc ? gc.data<T>() : nullptr, gh ? gh.data<T>() : nullptr, gx.template data<T>(),
                        gc_prev.template data<T>());
    });
    gc_prev.Finish();
    gx.Finish();
}

// ---------------------------------------------------------------- cells with several children

// Pointers to the gates and states of such a cell, and to their gradients.
template <class T>
class TreePointers {
public:
    TreePointers(const std::vector<Array>& c_prevs, const std::vector<Array>& xs) {
        int64_t units = c_prevs[0].shape()[1];
        auto children = static_cast<int64_t>(c_prevs.size());
        for (const Array& c : c_prevs) c_.push_back({c.data<T>(), units, 1});
        if (xs.size() == 1) {
            auto gate = [&](int64_t i) { return CellPart<T>{xs[0].data<T>() + i * units, (children + 3) * units, 1}; };
            a_.push_back(gate(0));
            i_.push_back(gate(1));
            o_.push_back(gate(2));
            for (int64_t k = 0; k < children; ++k) f_.push_back(gate(3 + k));
            return;
        }
        for (const Array& x : xs) {
            auto gate = [&](int64_t i) { return CellPart<T>{x.data<T>() + i, 4 * units, 4}; };
            a_.push_back(gate(0));
            i_.push_back(gate(1));
            f_.push_back(gate(2));
            o_.push_back(gate(3));
        }
    }
    TreeParts<T> Get() const {
        return {static_cast<int64_t>(a_.size()),
                static_cast<int64_t>(c_.size()),
                static_cast<int64_t>(o_.size()),
                a_.data(),
                i_.data(),
                f_.data(),
                c_.data(),
                o_.data()};
    }

private:
    std::vector<CellPart<T>> a_;
    std::vector<CellPart<T>> i_;
    std::vector<CellPart<T>> f_;
    std::vector<CellPart<T>> c_;
    std::vector<CellPart<T>> o_;
};

std::vector<Array> Inputs(const std::vector<Array>& arrays, Dtype dtype) {
    std::vector<Array> out;
    for (const Array& a : arrays) out.push_back(Input(a, dtype));
    return out;
}

void TreeLstm(const std::vector<Array>& c_prevs_, const std::vector<Array>& xs_, const Array& c_, const Array& h_) {
    Dtype dtype = GetComputeDtype(c_.dtype());
    std::vector<Array> c_prevs = Inputs(c_prevs_, dtype);
    std::vector<Array> xs = Inputs(xs_, dtype);
    Output c{c_, dtype};
    Output h{h_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        TreePointers<const T> pointers{c_prevs, xs};
        BlockingScope blocking{xs[0].GetTotalSize() > kRnnBlocking};
        TreeLstmForward<T>(c_.shape()[0], c_.shape()[1], pointers.Get(), c.template data<T>(), h.template data<T>());
    });
    c.Finish();
    h.Finish();
}

void TreeLstmGrad(const std::vector<Array>& c_prevs_, const std::vector<Array>& xs_, const Array& c_, const Array& gc_,
                  const Array& gh_, const std::vector<Array>& grads) {
    Dtype dtype = GetComputeDtype(c_.dtype());
    std::vector<Array> c_prevs = Inputs(c_prevs_, dtype);
    std::vector<Array> xs = Inputs(xs_, dtype);
    Array c = Input(c_, dtype);
    Array gc = gc_ ? Input(gc_, dtype) : gc_;
    Array gh = gh_ ? Input(gh_, dtype) : gh_;
    std::vector<Array> outs;
    for (const Array& g : grads) outs.push_back(g.dtype() == dtype ? g : Empty(g.shape(), dtype, g.device()));
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        auto middle = outs.begin() + static_cast<std::ptrdiff_t>(c_prevs.size());
        TreePointers<const T> pointers{c_prevs, xs};
        TreePointers<T> targets{{outs.begin(), middle}, {middle, outs.end()}};
        BlockingScope blocking{xs[0].GetTotalSize() > kRnnBlocking};
        TreeLstmBackward<T>(c_.shape()[0], c_.shape()[1], pointers.Get(), c.data<T>(), gc ? gc.data<T>() : nullptr,
                            gh ? gh.data<T>() : nullptr, targets.Get());
    });
    for (size_t i = 0; i < grads.size(); ++i) {
        if (grads[i].dtype() != dtype) CopyData(outs[i], grads[i]);
    }
}

}  // namespace

const NativeKernels g_rnn_kernels{[](Backend& backend) {
    kLstmKernel.Register(backend, &Lstm);
    kLstmGradKernel.Register(backend, &LstmGrad);
    kTreeLstmKernel.Register(backend, &TreeLstm);
    kTreeLstmGradKernel.Register(backend, &TreeLstmGrad);
}};

}  // namespace chainerx::native
