// Copies with conversion and broadcasting, and filling.

#include <cstring>

#include "chainerx/backends/native/elementwise.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/manipulation.h"

namespace chainerx::native {
namespace {

constexpr int64_t kGrain = 65536;

template <class From, class To>
CHAINERX_HOST_DEVICE To Convert(From v) {
    if constexpr (std::is_same_v<From, To>) {
        return v;
    } else if constexpr (std::is_same_v<To, Float16>) {
        if constexpr (std::is_same_v<From, double>) {
            return Float16{v};
        } else {
            return Float16{static_cast<float>(v)};
        }
    } else if constexpr (std::is_same_v<From, Float16>) {
        return Convert<float, To>(static_cast<float>(v));
    } else if constexpr (std::is_same_v<To, bool>) {
        return v != From{};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 8) {
        // Through int64, so that values out of range wrap as they do between integers.
        return static_cast<To>(static_cast<int64_t>(v));
    } else {
        return static_cast<To>(v);
    }
}

template <class From, class To>
struct CopyRow {
    CHAINERX_HOST_DEVICE static void Run(const void*, int64_t n, char* const* data, const int64_t* strides) {
        if (strides[0] == sizeof(To) && strides[1] == sizeof(From)) {
            To* out = reinterpret_cast<To*>(data[0]);
            const From* in = reinterpret_cast<const From*>(data[1]);
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) out[i] = Convert<From, To>(in[i]);
            return;
        }
        char* out = data[0];
        const char* in = data[1];
        if (strides[0] == sizeof(To) && strides[1] == 0) {
            To v = Convert<From, To>(*reinterpret_cast<const From*>(in));
            std::fill_n(reinterpret_cast<To*>(out), n, v);
            return;
        }
        for (int64_t i = 0; i < n; ++i, out += strides[0], in += strides[1]) {
            *reinterpret_cast<To*>(out) = Convert<From, To>(*reinterpret_cast<const From*>(in));
        }
    }
};

using CopyTable = std::array<RowTable, kNumDtypes>;

template <class From>
RowTable MakeCopyRows() {
    return {
#define CHAINERX_X(type, name, kind, str, ch) \
    MultiVersion<CopyRow<From, type>, const void*, int64_t, char* const*, const int64_t*>::Pick(),
            CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    };
}

CopyTable g_copy;

void Copy(const Array& src, const Array& dst) {
    int64_t size = dst.GetTotalSize();
    if (size == 0) return;
    if (src.dtype() == dst.dtype() && src.IsContiguous() && dst.IsContiguous() && src.shape() == dst.shape()) {
        if (src.raw_data() == dst.raw_data()) return;
        int64_t item = dst.GetItemSize();
        if (size * item <= kGrain) {
            std::memcpy(dst.raw_data(), src.raw_data(), size * item);
            return;
        }
        BlockingScope blocking;
        ParallelFor(size * item, kGrain * 16, [&](int64_t begin, int64_t end) {
            std::memcpy(dst.raw_data() + begin, src.raw_data() + begin, end - begin);
        });
        return;
    }
    RowFunction row = g_copy[static_cast<int>(src.dtype())][static_cast<int>(dst.dtype())];
    Strides strides[] = {dst.strides(), BroadcastStrides(src.shape(), src.strides(), dst.shape())};
    LoopNest nest{dst.shape(), 2, strides};
    char* data[] = {dst.raw_data(), src.raw_data()};
    int64_t length = nest.lengths[nest.ndim - 1];
    const int64_t* inner = nest.strides[nest.ndim - 1];
    BlockingScope blocking{size > kGrain};
    if (nest.ndim == 1) {
        ParallelFor(length, kGrain, [&](int64_t begin, int64_t end) {
            char* p[] = {data[0] + begin * inner[0], data[1] + begin * inner[1]};
            row(nullptr, end - begin, p, inner);
        });
        return;
    }
    ParallelFor(nest.OuterSize(), std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
        nest.ForRows(data, begin, end, [&](int64_t m, char* const* p) { row(nullptr, m, p, inner); });
    });
}

void Fill(const Array& out, const Scalar& value) {
    int64_t size = out.GetTotalSize();
    if (size == 0) return;
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T v = value.To<T>();
        if (out.IsContiguous()) {
            T* p = out.data<T>();
            BlockingScope blocking{size > kGrain};
            ParallelFor(size, kGrain, [&](int64_t begin, int64_t end) { std::fill(p + begin, p + end, v); });
            return;
        }
        LoopNest nest{out.shape(), 1, &out.strides()};
        char* data[] = {out.raw_data()};
        int64_t stride = nest.strides[nest.ndim - 1][0];
        nest.ForRows(data, 0, nest.OuterSize(), [&](int64_t n, char* const* p) {
            for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * stride) = v;
        });
    });
}

void Arange(const Array& out, const Scalar& start, const Scalar& step) {
    VisitDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* p = out.data<T>();
        int64_t n = out.GetTotalSize();
        if (start.kind() != DtypeKind::kFloat && step.kind() != DtypeKind::kFloat) {
            auto first = static_cast<int64_t>(start);
            auto delta = static_cast<int64_t>(step);
            for (int64_t i = 0; i < n; ++i) p[i] = Convert<int64_t, T>(first + i * delta);
        } else {
            auto first = static_cast<double>(start);
            auto delta = static_cast<double>(step);
            for (int64_t i = 0; i < n; ++i) p[i] = Convert<double, T>(first + static_cast<double>(i) * delta);
        }
    });
}

}  // namespace

void RegisterCopyKernels(Backend& backend) {
    g_copy = {
#define CHAINERX_X(type, name, kind, str, ch) MakeCopyRows<type>(),
            CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    };
    kCopyKernel.Register(backend, &Copy);
    kFillKernel.Register(backend, &Fill);
    kArangeKernel.Register(backend, &Arange);
}

}  // namespace chainerx::native
