// Recurrent cells on arrays.

#include "chainerx/ops/rnn.h"

#include "chainerx/backends/native/compute.h"
#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// Gates above which other Python threads are let in.
constexpr int64_t kBlocking = 8192;

GateLayout MakeLayout(int64_t units, int64_t n, Gates gates) {
    bool interleaved = gates == Gates::kInterleaved;
    GateLayout layout{};
    layout.row = n * units;
    layout.unit = interleaved ? n : 1;
    for (int64_t i = 0; i < n; ++i) layout.gate[i] = interleaved ? i : i * units;
    return layout;
}

void Lstm(const Array& c_prev_, const Array& x_, Gates gates, const Array& c_, const Array& h_) {
    int64_t batch = c_.shape()[0];
    int64_t units = c_.shape()[1];
    GateLayout layout = MakeLayout(units, 4, gates);
    Dtype dtype = GetComputeDtype(c_.dtype());
    Array c_prev = Input(c_prev_, dtype);
    Array x = Input(x_, dtype);
    Output c{c_, dtype};
    Output h{h_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kBlocking};
        LstmForward<T>(batch, units, layout, x.data<T>(), c_prev.data<T>(), c.template data<T>(), h.template data<T>());
    });
    c.Finish();
    h.Finish();
}

void LstmGrad(const Array& c_prev_, const Array& x_, Gates gates, const Array& c_, const Array& gc_, const Array& gh_,
              const Array& gc_prev_, const Array& gx_) {
    int64_t batch = c_.shape()[0];
    int64_t units = c_.shape()[1];
    GateLayout layout = MakeLayout(units, 4, gates);
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
        BlockingScope blocking{x.GetTotalSize() > kBlocking};
        LstmBackward<T>(batch, units, layout, x.data<T>(), c_prev.data<T>(), c.template data<T>(),
                        gc ? gc.data<T>() : nullptr, gh ? gh.data<T>() : nullptr, gx.template data<T>(),
                        gc_prev.template data<T>());
    });
    gc_prev.Finish();
    gx.Finish();
}

void Gru(const Array& h_prev_, const Array& x_, const Array& s_, const Array& h_) {
    int64_t batch = h_.shape()[0];
    int64_t units = h_.shape()[1];
    GateLayout layout = MakeLayout(units, 3, Gates::kBlocks);
    Dtype dtype = GetComputeDtype(h_.dtype());
    Array h_prev = Input(h_prev_, dtype);
    Array x = Input(x_, dtype);
    Array s = Input(s_, dtype);
    Output h{h_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kBlocking};
        GruForward<T>(batch, units, layout, x.data<T>(), s.data<T>(), h_prev.data<T>(), h.template data<T>());
    });
    h.Finish();
}

void GruGrad(const Array& h_prev_, const Array& x_, const Array& s_, const Array& gh_, const Array& gh_prev_,
             const Array& gx_, const Array& gs_) {
    int64_t batch = h_prev_.shape()[0];
    int64_t units = h_prev_.shape()[1];
    GateLayout layout = MakeLayout(units, 3, Gates::kBlocks);
    Dtype dtype = GetComputeDtype(h_prev_.dtype());
    Array h_prev = Input(h_prev_, dtype);
    Array x = Input(x_, dtype);
    Array s = Input(s_, dtype);
    Array gh = Input(gh_, dtype);
    Output gh_prev{gh_prev_, dtype};
    Output gx{gx_, dtype};
    Output gs{gs_, dtype};
    VisitComputeDtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        BlockingScope blocking{x.GetTotalSize() > kBlocking};
        GruBackward<T>(batch, units, layout, x.data<T>(), s.data<T>(), h_prev.data<T>(), gh.data<T>(),
                       gx.template data<T>(), gs.template data<T>(), gh_prev.template data<T>());
    });
    gh_prev.Finish();
    gx.Finish();
    gs.Finish();
}

}  // namespace

void RegisterRnnKernels(Backend& backend) {
    kLstmKernel.Register(backend, &Lstm);
    kLstmGradKernel.Register(backend, &LstmGrad);
    kGruKernel.Register(backend, &Gru);
    kGruGradKernel.Register(backend, &GruGrad);
}

}  // namespace chainerx::native
