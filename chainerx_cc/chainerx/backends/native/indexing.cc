// Gathering, scattering and searching.

#include "chainerx/ops/indexing.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "chainerx/backends/native/indexing.h"
#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

constexpr int64_t kIndexingGrain = 16384;

// Calls f(outer * n + i, index of i) for tasks of about kIndexingGrain elements.
template <class F>
void ForIndices(const Array& indices, const TakeGeometry& g, F&& f) {
    int64_t n = indices.GetTotalSize();
    const int64_t* index = indices.data<int64_t>();
    int64_t total = g.outer * n;
    BlockingScope blocking{total * g.inner > kIndexingGrain};
    ParallelFor(total, std::max<int64_t>(1, kIndexingGrain / std::max<int64_t>(g.inner, 1)),
                [&](int64_t begin, int64_t end) {
                    int64_t outer = begin / n;
                    int64_t i = begin % n;
                    for (int64_t r = begin; r < end; ++r) {
                        f(r, outer, index[i]);
                        if (++i == n) {
                            i = 0;
                            ++outer;
                        }
                    }
                });
}

template <class T>
void TakeTyped(const Array& a, const Array& indices, const TakeGeometry& g, const Array& out) {
    const T* src = a.data<T>();
    T* dst = out.data<T>();
    if (g.inner == 1) {
        ForIndices(indices, g, [&](int64_t r, int64_t o, int64_t i) { dst[r] = src[o * g.length + i]; });
    } else {
        ForIndices(indices, g, [&](int64_t r, int64_t o, int64_t i) {
            std::memcpy(dst + r * g.inner, src + (o * g.length + i) * g.inner, g.inner * sizeof(T));
        });
    }
}

void Take(const Array& a, const Array& indices, const TakeGeometry& g, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    VisitAnyDtype(a.dtype(), [&](auto tag) { TakeTyped<typename decltype(tag)::type>(a, indices, g, out); });
}

// Serial over indices, because they can repeat.
template <class T, class F>
void Scatter(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b, F&& f) {
    int64_t n = indices.GetTotalSize();
    const int64_t* index = indices.data<int64_t>();
    const T* src = b.data<T>();
    BlockingScope blocking{b.GetTotalSize() > kIndexingGrain};
    for (int64_t o = 0; o < g.outer; ++o) {
        for (int64_t i = 0; i < n; ++i) {
            T* dst = out.data<T>() + (o * g.length + index[i]) * g.inner;
            for (int64_t j = 0; j < g.inner; ++j) f(dst[j], src[j]);
            src += g.inner;
        }
    }
}

void AddAt(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    VisitAnyDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using C = typename ComputeType<T>::type;
        Scatter<T>(out, indices, g, b,
                   [](T& d, const T& s) { d = static_cast<T>(static_cast<C>(d) + static_cast<C>(s)); });
    });
}

template <class T>
void AddSumsTyped(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    using C = typename ComputeType<T>::type;
    // Sums of bfloat16 would soon be too coarse for one more.
    using Sum = std::conditional_t<std::is_same_v<T, Bfloat16>, float, T>;
    int64_t n = indices.GetTotalSize();
    const int64_t* index = indices.data<int64_t>();
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [index](int64_t i, int64_t j) { return index[i] < index[j]; });
    auto add = [&g](auto* to, const auto* from) {
        using To = std::remove_pointer_t<decltype(to)>;
        for (int64_t j = 0; j < g.inner; ++j) to[j] = static_cast<To>(static_cast<C>(to[j]) + static_cast<C>(from[j]));
    };
    Scratch<Sum> sums{g.inner};
    for (int64_t o = 0; o < g.outer; ++o) {
        for (int64_t i = 0; i < n;) {
            int64_t position = index[order[i]];
            std::fill_n(sums.data(), g.inner, Sum{});
            for (; i < n && index[order[i]] == position; ++i) {
                add(sums.data(), b.data<T>() + (o * n + order[i]) * g.inner);
            }
            add(out.data<T>() + (o * g.length + position) * g.inner, sums.data());
        }
    }
}

void AddSumsAt(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    BlockingScope blocking{b.GetTotalSize() > kIndexingGrain};
    VisitAnyDtype(out.dtype(), [&](auto tag) { AddSumsTyped<typename decltype(tag)::type>(out, indices, g, b); });
}

void Put(const Array& out, const Array& indices, const TakeGeometry& g, const Array& b) {
    VisitAnyDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        Scatter<T>(out, indices, g, b, [](T& d, const T& s) { d = s; });
    });
}

void NormalizeIndices(const Array& indices, int64_t length, IndexMode mode, const Array& out) {
    const int64_t* in = indices.data<int64_t>();
    int64_t* p = out.data<int64_t>();
    int64_t n = indices.GetTotalSize();
    if (mode == IndexMode::kRaise) {
        bool all_valid = false;
        WrapNegative(n, in, length, p, &all_valid);
        if (all_valid) return;
    }
    for (int64_t k = 0; k < n; ++k) {
        int64_t i = in[k];
        if (mode == IndexMode::kClip && length > 0) {
            p[k] = std::min(std::max<int64_t>(i, 0), length - 1);
        } else if (mode == IndexMode::kWrap && length > 0) {
            p[k] = (i % length + length) % length;
        } else {
            if (i < -length || i >= length) {
                throw IndexError{"index ", i, " is out of bounds for an axis with length ", length};
            }
            p[k] = i < 0 ? i + length : i;
        }
    }
}

Array Nonzero(const Array& a) {
    Array flags = Input(a, Dtype::kBool);
    const bool* p = flags.data<bool>();
    int64_t n = flags.GetTotalSize();
    int64_t count = std::count(p, p + n, true);
    Array out = Empty({count, a.ndim()}, Dtype::kInt64, a.device());
    auto* q = out.data<int64_t>();
    int last = a.ndim() - 1;
    if (last < 0) return out;
    // Row by row. Writes positions in a row without a branch, which would be unpredictable.
    int64_t length = a.shape()[last];
    Scratch<int64_t> positions{length + 1};
    int64_t index[kMaxNdim] = {};
    for (int64_t begin = 0; begin < n; begin += length) {
        int64_t found = 0;
        for (int64_t i = 0; i < length; ++i) {
            positions.data()[found] = i;
            found += p[begin + i] ? 1 : 0;
        }
        for (int64_t k = 0; k < found; ++k, q += a.ndim()) {
            for (int d = 0; d < last; ++d) q[d] = index[d];
            q[last] = positions.data()[k];
        }
        for (int d = last - 1; d >= 0 && ++index[d] == a.shape()[d]; --d) index[d] = 0;
    }
    return out;
}

}  // namespace

const NativeKernels g_indexing_kernels{[](Backend& backend) {
    kTakeKernel.Register(backend, &Take);
    kAddAtKernel.Register(backend, &AddAt);
    kAddSumsAtKernel.Register(backend, &AddSumsAt);
    kPutKernel.Register(backend, &Put);
    kNormalizeIndicesKernel.Register(backend, &NormalizeIndices);
    kNonzeroKernel.Register(backend, &Nonzero);
}};

}  // namespace chainerx::native
