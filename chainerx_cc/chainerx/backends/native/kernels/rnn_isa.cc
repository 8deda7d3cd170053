#include "chainerx/backends/native/kernels/math.h"
#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx {
namespace native {
namespace CHAINERX_ISA {
namespace {

// body(row, unit stride) over the rows, in parallel; the common strides are constants to the compiler.
template <class F>
void ForRows(int64_t batch, int64_t units, int64_t unit_stride, const F& body) {
    ParallelFor(batch, 1 + 2048 / (units + 1), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
            if (unit_stride == 1) {
                body(b, 1);
            } else if (unit_stride == 4) {
                body(b, 4);
            } else {
                body(b, unit_stride);
            }
        }
    });
}

}  // namespace

template <class T>
void LstmForward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* c_prev, T* c, T* h) {
    ForRows(
            batch, units, layout.unit, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
                const T* xa = x + b * layout.row + layout.gate[0];
                const T* xi = x + b * layout.row + layout.gate[1];
                const T* xf = x + b * layout.row + layout.gate[2];
                const T* xo = x + b * layout.row + layout.gate[3];
                const T* previous = c_prev + b * units;
                T* next = c + b * units;
                T* out = h + b * units;
#pragma GCC ivdep
                for (int64_t u = 0; u < units; ++u) {
                    T a = math::Tanh(xa[u * stride]);
                    T i = math::Sigmoid(xi[u * stride]);
                    T f = math::Sigmoid(xf[u * stride]);
                    T o = math::Sigmoid(xo[u * stride]);
                    T value = f * previous[u] + i * a;
                    next[u] = value;
                    out[u] = o * math::Tanh(value);
                }
            });
}

template <class T>
void LstmBackward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* c_prev, const T* c,
                  const T* gc, const T* gh, T* gx, T* gc_prev) {
    ForRows(
            batch, units, layout.unit, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
                const T* xb = x + b * layout.row;
                T* gb = gx + b * layout.row;
                const int64_t* gate = layout.gate;
                const T* previous = c_prev + b * units;
                const T* next = c + b * units;
                // A missing gradient reads c instead, times zero: the loop stays free of branches.
                const T* gc_row = (gc != nullptr ? gc : c) + b * units;
                const T* gh_row = (gh != nullptr ? gh : c) + b * units;
                bool has_gc = gc != nullptr;
                bool has_gh = gh != nullptr;
                T* gprev = gc_prev + b * units;
#pragma GCC ivdep
                for (int64_t u = 0; u < units; ++u) {
                    T a = math::Tanh(xb[gate[0] + u * stride]);
                    T i = math::Sigmoid(xb[gate[1] + u * stride]);
                    T f = math::Sigmoid(xb[gate[2] + u * stride]);
                    T o = math::Sigmoid(xb[gate[3] + u * stride]);
                    T t = math::Tanh(next[u]);
                    T g_h = has_gh ? gh_row[u] : T{0};
                    T g_c = (has_gc ? gc_row[u] : T{0}) + g_h * o * (T{1} - t * t);
                    gb[gate[0] + u * stride] = g_c * i * (T{1} - a * a);
                    gb[gate[1] + u * stride] = g_c * a * i * (T{1} - i);
                    gb[gate[2] + u * stride] = g_c * previous[u] * f * (T{1} - f);
                    gb[gate[3] + u * stride] = g_h * t * o * (T{1} - o);
                    gprev[u] = g_c * f;
                }
            });
}

template <class T>
void GruForward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* s, const T* h_prev, T* h) {
    ForRows(
            batch, units, layout.unit, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
                const T* xb = x + b * layout.row;
                const T* sb = s + b * layout.row;
                const int64_t* gate = layout.gate;
                const T* previous = h_prev + b * units;
                T* out = h + b * units;
#pragma GCC ivdep
                for (int64_t u = 0; u < units; ++u) {
                    T r = math::Sigmoid(xb[gate[0] + u * stride] + sb[gate[0] + u * stride]);
                    T z = math::Sigmoid(xb[gate[1] + u * stride] + sb[gate[1] + u * stride]);
                    T a = math::Tanh(xb[gate[2] + u * stride] + r * sb[gate[2] + u * stride]);
                    out[u] = a + z * (previous[u] - a);
                }
            });
}

template <class T>
void GruBackward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* s, const T* h_prev,
                 const T* gh, T* gx, T* gs, T* gh_prev) {
    ForRows(
            batch, units, layout.unit, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
                const T* xb = x + b * layout.row;
                const T* sb = s + b * layout.row;
                T* gxb = gx + b * layout.row;
                T* gsb = gs + b * layout.row;
                const int64_t* gate = layout.gate;
                const T* previous = h_prev + b * units;
                const T* g = gh + b * units;
                T* gprev = gh_prev + b * units;
#pragma GCC ivdep
                for (int64_t u = 0; u < units; ++u) {
                    T r = math::Sigmoid(xb[gate[0] + u * stride] + sb[gate[0] + u * stride]);
                    T z = math::Sigmoid(xb[gate[1] + u * stride] + sb[gate[1] + u * stride]);
                    T state = sb[gate[2] + u * stride];
                    T a = math::Tanh(xb[gate[2] + u * stride] + r * state);
                    T g_a = g[u] * (T{1} - z) * (T{1} - a * a);
                    T g_z = g[u] * (previous[u] - a) * z * (T{1} - z);
                    T g_r = g_a * state * r * (T{1} - r);
                    gxb[gate[0] + u * stride] = g_r;
                    gsb[gate[0] + u * stride] = g_r;
                    gxb[gate[1] + u * stride] = g_z;
                    gsb[gate[1] + u * stride] = g_z;
                    gxb[gate[2] + u * stride] = g_a;
                    gsb[gate[2] + u * stride] = g_a * r;
                    gprev[u] = g[u] * z;
                }
            });
}

#define CHAINERX_INSTANTIATE(T)                                                                                       \
    template void LstmForward<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, T*, T*);                    \
    template void LstmBackward<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, const T*, const T*,        \
                                  const T*, T*, T*);                                                                  \
    template void GruForward<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, const T*, T*);               \
    template void GruBackward<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, const T*, const T*, T*, T*, \
                                 T*);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace CHAINERX_ISA
}  // namespace native
}  // namespace chainerx
