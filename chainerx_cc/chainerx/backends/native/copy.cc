// Copies with conversion and broadcasting, and filling.

#include "chainerx/backends/native/copy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/transpose.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"
#include "chainerx/ops/creation.h"

namespace chainerx::native {
namespace {

constexpr int64_t kCopyGrain = 65536;

using CopyTable = std::array<RowTable, kNumDtypes>;

// A row function that converts from or to complex numbers; all instruction sets share it.
template <class From, class To>
void ConvertComplex(const void*, int64_t n, char* const* data, const int64_t* strides) {
    for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<To*>(data[0] + i * strides[0]) =
                ConvertAny<From, To>(*reinterpret_cast<const From*>(data[1] + i * strides[1]));
    }
}

template <class T>
void AddComplexRows(Dtype dtype, CopyTable* table) {
    int own = static_cast<int>(dtype);
#define CHAINERX_X(type, name, kind, str, ch)                                \
    (*table)[own][static_cast<int>(Dtype::name)] = &ConvertComplex<T, type>; \
    (*table)[static_cast<int>(Dtype::name)][own] = &ConvertComplex<type, T>;
    CHAINERX_ALL_DTYPES(CHAINERX_X)
#undef CHAINERX_X
}

CopyTable MakeCopyTable() {
    CopyTable table;
#define CHAINERX_X(type, name, kind, str, ch) GetCopyRows<type>(&table[static_cast<int>(Dtype::name)]);
    CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
#define CHAINERX_X(type, name, kind, str, ch) AddComplexRows<type>(Dtype::name, &table);
    CHAINERX_COMPLEX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    return table;
}

const CopyTable g_copy = MakeCopyTable();  // by the source's dtype, then the destination's

// Copies a transposed matrix: the destination is contiguous in one of the last two dimensions and the source in the
// other. Returns false for other layouts.
bool CopyTransposed(LoopNest nest, int64_t item, char* const* data) {
    int last = nest.ndim - 1;
    if (nest.ndim < 2 || (item != 4 && item != 8) || nest.strides[last][0] != item) return false;
    int d = 0;
    while (d < last && nest.strides[d][1] != item) ++d;
    if (d == last) return false;
    for (; d < last - 1; ++d) {
        std::swap(nest.lengths[d], nest.lengths[d + 1]);
        std::swap(nest.strides[d], nest.strides[d + 1]);
    }
    int64_t rows = nest.lengths[last];  // of the source
    int64_t columns = nest.lengths[last - 1];
    int64_t from = nest.strides[last][1];
    int64_t to = nest.strides[last - 1][0];
    if (from % item != 0 || to % item != 0) return false;
    nest.ndim = last;
    auto transpose = [=](int64_t n, char* target, const char* source) {
        if (item == 4) {
            TransposeMatrix(rows, n, reinterpret_cast<const float*>(source), from / 4, reinterpret_cast<float*>(target),
                            to / 4);
        } else {
            TransposeMatrix(rows, n, reinterpret_cast<const double*>(source), from / 8,
                            reinterpret_cast<double*>(target), to / 8);
        }
    };
    BlockingScope blocking{nest.size > kCopyGrain};
    int64_t outer = nest.OuterSize();
    if (outer == 1) {
        ParallelFor(columns, std::max<int64_t>(32, kCopyGrain / rows), [&](int64_t begin, int64_t end) {
            transpose(end - begin, data[0] + begin * to, data[1] + begin * item);
        });
        return true;
    }
    ParallelFor(outer, std::max<int64_t>(1, kCopyGrain / (rows * columns)), [&](int64_t begin, int64_t end) {
        nest.ForRows(data, begin, end, [&](int64_t n, char* const* p) { transpose(n, p[0], p[1]); });
    });
    return true;
}

void Copy(const Array& src, const Array& dst) {
    int64_t size = dst.GetTotalSize();
    if (size == 0) return;
    if (src.dtype() == dst.dtype() && src.IsContiguous() && dst.IsContiguous() && src.shape() == dst.shape()) {
        if (src.raw_data() == dst.raw_data()) return;
        int64_t item = dst.GetItemSize();
        if (size * item <= kCopyGrain) {
            std::memcpy(dst.raw_data(), src.raw_data(), size * item);
            return;
        }
        BlockingScope blocking;
        ParallelFor(size * item, kCopyGrain * 16, [&](int64_t begin, int64_t end) {
            std::memcpy(dst.raw_data() + begin, src.raw_data() + begin, end - begin);
        });
        return;
    }
    RowFunction row = g_copy[static_cast<int>(src.dtype())][static_cast<int>(dst.dtype())];
    Strides strides[] = {dst.strides(), BroadcastStrides(src.shape(), src.strides(), dst.shape())};
    LoopNest nest{dst.shape(), 2, strides};
    char* data[] = {dst.raw_data(), src.raw_data()};
    if (src.dtype() == dst.dtype() && CopyTransposed(nest, dst.GetItemSize(), data)) return;
    int64_t length = nest.lengths[nest.ndim - 1];
    const int64_t* inner = nest.strides[nest.ndim - 1];
    BlockingScope blocking{size > kCopyGrain};
    if (nest.ndim == 1) {
        ParallelFor(length, kCopyGrain, [&](int64_t begin, int64_t end) {
            char* p[] = {data[0] + begin * inner[0], data[1] + begin * inner[1]};
            row(nullptr, end - begin, p, inner);
        });
        return;
    }
    ParallelFor(nest.OuterSize(), std::max<int64_t>(1, kCopyGrain / length), [&](int64_t begin, int64_t end) {
        nest.ForRows(data, begin, end, [&](int64_t m, char* const* p) { row(nullptr, m, p, inner); });
    });
}

void Fill(const Array& out, const Scalar& value) {
    int64_t size = out.GetTotalSize();
    if (size == 0) return;
    VisitAnyDtype(out.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T v = value.To<T>();
        if (out.IsContiguous()) {
            T* p = out.data<T>();
            BlockingScope blocking{size > kCopyGrain};
            ParallelFor(size, kCopyGrain, [&](int64_t begin, int64_t end) { std::fill(p + begin, p + end, v); });
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
            // Unsigned, so that numbers which only uint64 has are reached without overflow.
            auto first = start.To<uint64_t>();
            auto delta = step.To<uint64_t>();
            for (int64_t i = 0; i < n; ++i) p[i] = Convert<int64_t, T>(static_cast<int64_t>(first + i * delta));
        } else {
            auto first = static_cast<double>(start);
            auto delta = static_cast<double>(step);
            for (int64_t i = 0; i < n; ++i) p[i] = Convert<double, T>(first + static_cast<double>(i) * delta);
        }
    });
}

}  // namespace

const NativeKernels g_copy_kernels{[](Backend& backend) {
    kCopyKernel.Register(backend, &Copy);
    kFillKernel.Register(backend, &Fill);
    kArangeKernel.Register(backend, &Arange);
}};

}  // namespace chainerx::native
