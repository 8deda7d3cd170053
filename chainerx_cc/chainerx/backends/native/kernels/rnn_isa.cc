#include "chainerx/backends/native/kernels/rnn.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/math/elementary.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// body(row) over the rows, in parallel
template <class F>
void ForRows(int64_t batch, int64_t units, const F& body) {
    ParallelFor(batch, 1 + 2048 / (units + 1), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
            body(b);
        }
    });
}

// body(row, unit stride) of an LSTM cell, whose strides are constants to the compiler.
template <class F>
void ForLstmRows(int64_t batch, int64_t units, const GateLayout& layout, const F& body) {
    ForRows(batch, units, [&](int64_t b) {
        if (layout.unit == 1) {
            body(b, 1);
        } else {
            body(b, 4);
        }
    });
}

}  // namespace

template <class T>
void LstmForward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* c_prev, T* c, T* h) {
    ForLstmRows(
            batch, units, layout, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
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
    ForLstmRows(
            batch, units, layout, [&](int64_t b, int64_t stride) __attribute__((always_inline)) {
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
    ForRows(batch, units, [&](int64_t b) {
        const T* xb = x + b * layout.row;
        const T* sb = s + b * layout.row;
        const int64_t* gate = layout.gate;
        const T* previous = h_prev + b * units;
        T* out = h + b * units;
#pragma GCC ivdep
        for (int64_t u = 0; u < units; ++u) {
            T r = math::Sigmoid(xb[gate[0] + u] + sb[gate[0] + u]);
            T z = math::Sigmoid(xb[gate[1] + u] + sb[gate[1] + u]);
            T a = math::Tanh(xb[gate[2] + u] + r * sb[gate[2] + u]);
            out[u] = a + z * (previous[u] - a);
        }
    });
}

template <class T>
void GruBackward(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* s, const T* h_prev,
                 const T* gh, T* gx, T* gs, T* gh_prev) {
    ForRows(batch, units, [&](int64_t b) {
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
            T r = math::Sigmoid(xb[gate[0] + u] + sb[gate[0] + u]);
            T z = math::Sigmoid(xb[gate[1] + u] + sb[gate[1] + u]);
            T state = sb[gate[2] + u];
            T a = math::Tanh(xb[gate[2] + u] + r * state);
            T g_a = g[u] * (T{1} - z) * (T{1} - a * a);
            T g_z = g[u] * (previous[u] - a) * z * (T{1} - z);
            T g_r = g_a * state * r * (T{1} - r);
            gxb[gate[0] + u] = g_r;
            gsb[gate[0] + u] = g_r;
            gxb[gate[1] + u] = g_z;
            gsb[gate[1] + u] = g_z;
            gxb[gate[2] + u] = g_a;
            gsb[gate[2] + u] = g_a * r;
            gprev[u] = g[u] * z;
        }
    });
}

template <class T>
void GruReset(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* h_prev, T* s) {
    ForRows(batch, units, [&](int64_t b) {
        const T* xr = x + b * layout.row + layout.gate[0];
        const T* previous = h_prev + b * units;
        T* out = s + b * units;
#pragma GCC ivdep
        for (int64_t u = 0; u < units; ++u) {
            out[u] = math::Sigmoid(xr[u]) * previous[u];
        }
    });
}

template <class T>
void GruUpdate(int64_t batch, int64_t units, const GateLayout& layout, const T* x, const T* h_prev, T* h) {
    ForRows(batch, units, [&](int64_t b) {
        const T* xz = x + b * layout.row + layout.gate[1];
        const T* xa = x + b * layout.row + layout.gate[2];
        const T* previous = h_prev + b * units;
        T* out = h + b * units;
#pragma GCC ivdep
        for (int64_t u = 0; u < units; ++u) {
            T z = math::Sigmoid(xz[u]);
            T a = math::Tanh(xa[u]);
            out[u] = a + z * (previous[u] - a);
        }
    });
}

template <class T>
void SimpleRnnForward(int64_t n, bool relu, const T* x, T* y) {
    if (relu) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
            y[i] = x[i] > T{0} ? x[i] : T{0};
        }
        return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        y[i] = math::Tanh(x[i]);
    }
}

template <class T>
void SimpleRnnBackward(int64_t n, bool relu, const T* y, const T* gy, T* gx) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        T at_relu = y[i] > T{0} ? gy[i] : T{0};
        T at_tanh = gy[i] * (T{1} - y[i] * y[i]);
        gx[i] = relu ? at_relu : at_tanh;
    }
}

namespace {

// Units that are processed together; their sums fit the first-level cache.
constexpr int64_t kUnits = 256;

// body(row, first unit, number of units) for pieces of all rows.
template <class F>
void ForPieces(int64_t batch, int64_t units, const F& body) {
    int64_t pieces = (units + kUnits - 1) / kUnits;
    ParallelFor(batch * pieces, 1 + 2048 / (units + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = i % pieces * kUnits;
            int64_t left = units - first;
            body(i / pieces, first, left < kUnits ? left : kUnits);
        }
    });
}

template <class T>
CHAINERX_INLINE T* Find(const CellPart<T>& part, int64_t b, int64_t u) {
    return part.data + b * part.row + u * part.unit;
}

// f(unit, element) for the elements of a part; contiguous ones are vectorized.
template <class T, class F>
CHAINERX_INLINE void OnPart(T* p, int64_t unit, int64_t n, const F& f) {
    if (unit == 1) {
#pragma GCC ivdep
        for (int64_t u = 0; u < n; ++u) {
            f(u, p[u]);
        }
        return;
    }
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
        f(u, p[u * unit]);
    }
}

template <class T>
CHAINERX_INLINE void SumOutputs(const TreeParts<const T>& x, int64_t b, int64_t first, int64_t n, T* sum) {
    for (int64_t u = 0; u < n; ++u) {
        sum[u] = T{0};
    }
    for (int64_t l = 0; l < x.outputs; ++l) {
        OnPart(
                Find(x.o[l], b, first), x.o[l].unit,
                n, [sum](int64_t u, const T& o) __attribute__((always_inline)) { sum[u] += o; });
    }
}

}  // namespace

template <class T>
void TreeLstmForward(int64_t batch, int64_t units, const TreeParts<const T>& x, T* c, T* h) {
    ForPieces(batch, units, [&](int64_t b, int64_t first, int64_t n) {
        T sum[kUnits];
        T other[kUnits];
        for (int64_t u = 0; u < n; ++u) {
            sum[u] = T{0};
        }
        for (int64_t j = 0; j < x.inputs; ++j) {
            OnPart(
                    Find(x.a[j], b, first), x.a[j].unit,
                    n, [&other](int64_t u, const T& a) __attribute__((always_inline)) { other[u] = math::Tanh(a); });
            OnPart(
                    Find(x.i[j], b, first), x.i[j].unit, n,
                    [&sum, &other ](int64_t u, const T& i)
                            __attribute__((always_inline)) { sum[u] += other[u] * math::Sigmoid(i); });
        }
        for (int64_t k = 0; k < x.children; ++k) {
            const T* previous = Find(x.c[k], b, first);
            int64_t stride = x.c[k].unit;
            OnPart(
                    Find(x.f[k], b, first), x.f[k].unit, n,
                    [&sum, previous, stride ](int64_t u, const T& f)
                            __attribute__((always_inline)) { sum[u] += previous[u * stride] * math::Sigmoid(f); });
        }
        SumOutputs(x, b, first, n, other);
        T* next = c + b * units + first;
        T* out = h + b * units + first;
#pragma GCC ivdep
        for (int64_t u = 0; u < n; ++u) {
            next[u] = sum[u];
            out[u] = math::Sigmoid(other[u]) * math::Tanh(sum[u]);
        }
    });
}

template <class T>
void TreeLstmBackward(int64_t batch, int64_t units, const TreeParts<const T>& x, const T* c, const T* gc, const T* gh,
                      const TreeParts<T>& gx) {
    ForPieces(batch, units, [&](int64_t b, int64_t first, int64_t n) {
        T g_c[kUnits];
        T g_o[kUnits];
        T a[kUnits];
        SumOutputs(x, b, first, n, g_o);
        int64_t at = b * units + first;
        // A missing gradient reads c instead, times zero: the loop stays free of branches.
        const T* gc_row = (gc != nullptr ? gc : c) + at;
        const T* gh_row = (gh != nullptr ? gh : c) + at;
        bool has_gc = gc != nullptr;
        bool has_gh = gh != nullptr;
#pragma GCC ivdep
        for (int64_t u = 0; u < n; ++u) {
            T o = math::Sigmoid(g_o[u]);
            T t = math::Tanh(c[at + u]);
            T g_h = has_gh ? gh_row[u] : T{0};
            g_c[u] = (has_gc ? gc_row[u] : T{0}) + g_h * o * (T{1} - t * t);
            g_o[u] = g_h * t * o * (T{1} - o);
        }
        for (int64_t l = 0; l < x.outputs; ++l) {
            OnPart(
                    Find(gx.o[l], b, first), gx.o[l].unit,
                    n, [&g_o](int64_t u, T & g) __attribute__((always_inline)) { g = g_o[u]; });
        }
        for (int64_t j = 0; j < x.inputs; ++j) {
            const T* i = Find(x.i[j], b, first);
            int64_t stride = x.i[j].unit;
            OnPart(
                    Find(x.a[j], b, first), x.a[j].unit,
                    n, [&a](int64_t u, const T& value) __attribute__((always_inline)) { a[u] = math::Tanh(value); });
            OnPart(
                    Find(gx.a[j], b, first), gx.a[j].unit, n,
                    [&a, &g_c, i, stride ](int64_t u, T & g) __attribute__((always_inline)) {
                        g = g_c[u] * math::Sigmoid(i[u * stride]) * (T{1} - a[u] * a[u]);
                    });
            OnPart(
                    Find(gx.i[j], b, first), gx.i[j].unit, n,
                    [&a, &g_c, i, stride ](int64_t u, T & g) __attribute__((always_inline)) {
                        T s = math::Sigmoid(i[u * stride]);
                        g = g_c[u] * a[u] * s * (T{1} - s);
                    });
        }
        for (int64_t k = 0; k < x.children; ++k) {
            OnPart(
                    Find(x.f[k], b, first), x.f[k].unit,
                    n, [&a](int64_t u, const T& value) __attribute__((always_inline)) { a[u] = math::Sigmoid(value); });
            const T* previous = Find(x.c[k], b, first);
            int64_t stride = x.c[k].unit;
            OnPart(
                    Find(gx.f[k], b, first), gx.f[k].unit, n,
                    [&a, &g_c, previous, stride ](int64_t u, T & g) __attribute__((always_inline)) {
                        g = g_c[u] * previous[u * stride] * a[u] * (T{1} - a[u]);
                    });
            OnPart(
                    Find(gx.c[k], b, first), gx.c[k].unit, n,
                    [&a, &g_c ](int64_t u, T & g) __attribute__((always_inline)) { g = g_c[u] * a[u]; });
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
#define CHAINERX_INSTANTIATE(T)                                                                                  \
    template void GruReset<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, T*);                      \
    template void GruUpdate<T>(int64_t, int64_t, const GateLayout&, const T*, const T*, T*);                     \
    template void SimpleRnnForward<T>(int64_t, bool, const T*, T*);                                              \
    template void SimpleRnnBackward<T>(int64_t, bool, const T*, const T*, T*);                                   \
    template void TreeLstmForward<T>(int64_t, int64_t, const TreeParts<const T>&, T*, T*);                       \
    template void TreeLstmBackward<T>(int64_t, int64_t, const TreeParts<const T>&, const T*, const T*, const T*, \
                                      const TreeParts<T>&);
CHAINERX_INSTANTIATE(float)
CHAINERX_INSTANTIATE(double)
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
