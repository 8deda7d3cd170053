// Fourier transforms by pocketfft.

#include "chainerx/ops/fft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"

// It keeps the tables of the last lengths. The threads are those of ParallelFor. Other libraries in a process may have
// another version of it, whose tables and functions must not be taken for these.
#define POCKETFFT_CACHE_SIZE 16
#define POCKETFFT_NO_MULTITHREADING
#pragma GCC visibility push(hidden)
#include <pocketfft_hdronly.h>
#pragma GCC visibility pop

namespace chainerx::native {
namespace {

// The number of operations that make a thread worthwhile, and above which the interpreter lock is released.
constexpr double kFftGrain = 100000;
constexpr double kFftBlocking = 262144;

// The longer of the shapes, which differ along the axis of a transform between halves and real numbers.
const Shape& FullShape(const Array& a, const Array& out) { return IsComplex(a.dtype()) ? out.shape() : a.shape(); }

template <class T>
void Along(const pocketfft::shape_t& shape, const pocketfft::stride_t& in, const pocketfft::stride_t& out, size_t axis,
           bool forward, const std::complex<T>* src, std::complex<T>* dst, T factor) {
    pocketfft::c2c(shape, in, out, {axis}, forward, src, dst, factor);
}
template <class T>
void Along(const pocketfft::shape_t& shape, const pocketfft::stride_t& in, const pocketfft::stride_t& out, size_t axis,
           bool forward, const T* src, std::complex<T>* dst, T factor) {
    pocketfft::r2c(shape, in, out, axis, forward, src, dst, factor);
}
template <class T>
void Along(const pocketfft::shape_t& shape, const pocketfft::stride_t& in, const pocketfft::stride_t& out, size_t axis,
           bool forward, const std::complex<T>* src, T* dst, T factor) {
    pocketfft::c2r(shape, in, out, axis, forward, src, dst, factor);
}

// Transforms along one axis; threads divide the longest of the others. A transform is computed in the same way
// whatever else its thread has.
template <class In, class Out, class T>
void AlongAxis(const Array& a, const Array& out, int8_t axis, bool forward, T factor) {
    const Shape& full = FullShape(a, out);
    pocketfft::shape_t shape(full.begin(), full.end());
    pocketfft::stride_t in_strides(a.strides().begin(), a.strides().end());
    pocketfft::stride_t out_strides(out.strides().begin(), out.strides().end());
    auto run = [&](const pocketfft::shape_t& part, int64_t in_offset, int64_t out_offset) {
        Along(part, in_strides, out_strides, static_cast<size_t>(axis), forward,
              reinterpret_cast<const In*>(a.raw_data() + in_offset),
              reinterpret_cast<Out*>(out.raw_data() + out_offset), factor);
    };
    int8_t divided = axis == 0 ? 1 : 0;
    for (int8_t i = 0; i < full.ndim(); ++i) {
        if (i != axis && full[i] > full[divided]) divided = i;
    }
    if (divided == full.ndim()) {
        run(shape, 0, 0);
        return;
    }
    auto size = static_cast<double>(full.GetTotalSize());
    double work = 5 * size * std::log2(static_cast<double>(full[axis]) + 1) / static_cast<double>(full[divided]);
    int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kFftGrain / work));
    ParallelFor(full[divided], grain, [&](int64_t begin, int64_t end) {
        pocketfft::shape_t part = shape;
        part[divided] = static_cast<size_t>(end - begin);
        run(part, begin * in_strides[divided], begin * out_strides[divided]);
    });
}

// Along all but the last of the axes, from `a` to `out`.
template <class T>
void AlongOthers(const Array& a, const Array& out, const Axes& axes, bool forward) {
    const Array* src = &a;
    for (int8_t i = static_cast<int8_t>(axes.ndim() - 2); i >= 0; --i) {
        AlongAxis<std::complex<T>, std::complex<T>>(*src, out, axes[i], forward, T{1});
        src = &out;
    }
}

template <class T>
void Transform(const Array& a, const Axes& axes, bool forward, T factor, const Array& out) {
    using C = std::complex<T>;
    int8_t last = axes.back();
    if (!IsComplex(out.dtype())) {
        Array half = axes.size() > 1 ? Empty(a.shape(), a.dtype(), a.device()) : a;
        AlongOthers<T>(a, half, axes, forward);
        AlongAxis<C, T>(half, out, last, forward, factor);
        return;
    }
    if (IsComplex(a.dtype())) {
        AlongAxis<C, C>(a, out, last, forward, factor);
    } else {
        AlongAxis<T, C>(a, out, last, forward, factor);
    }
    AlongOthers<T>(out, out, axes, forward);
}

void TransformFourier(const Array& a, const Axes& axes, bool forward, double factor, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    BlockingScope blocking{20 * static_cast<double>(out.GetTotalSize()) > kFftBlocking};
    if (ToRealDtype(out.dtype()) == Dtype::kFloat64) {
        Transform<double>(a, axes, forward, factor, out);
    } else {
        Transform<float>(a, axes, forward, static_cast<float>(factor), out);
    }
}

}  // namespace

const NativeKernels g_fft_kernels{[](Backend& backend) { kFourierKernel.Register(backend, &TransformFourier); }};

}  // namespace chainerx::native
