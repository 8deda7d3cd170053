// Sorting of arrays.

#include "chainerx/ops/sorting.h"

#include <algorithm>
#include <type_traits>

#include "chainerx/backends/native/kernels/sort.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// The number of elements above which the interpreter lock is released.
constexpr int64_t kSortingBlocking = 8192;

// Calls f(pointer, rows, n) with elements of a type that the kernels take.
template <class F>
void OnRows(const Array& x, F&& f) {
    int64_t n = x.ndim() == 0 ? 1 : x.shape().back();
    int64_t rows = x.GetTotalSize() / std::max<int64_t>(n, 1);
    BlockingScope blocking{x.GetTotalSize() > kSortingBlocking};
    VisitDtype(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, bool>) {
            f(x.data<uint8_t>(), rows, n);
        } else if constexpr (std::is_same_v<T, Float16>) {
            f(x.data<Half>(), rows, n);
        } else if constexpr (std::is_same_v<T, Bfloat16>) {
            f(x.data<BrainHalf>(), rows, n);
        } else {
            f(x.data<T>(), rows, n);
        }
    });
}

void Sort(const Array& x, const Array& out) {
    OnRows(x, [&out](auto* p, int64_t rows, int64_t n) {
        using T = std::remove_pointer_t<decltype(p)>;
        SortRows<T>(rows, n, p, out.data<T>());
    });
}

void Argsort(const Array& x, const Array& out) {
    OnRows(x, [&out](auto* p, int64_t rows, int64_t n) {
        using T = std::remove_pointer_t<decltype(p)>;
        ArgsortRows<T>(rows, n, p, out.data<int64_t>());
    });
}

}  // namespace

const NativeKernels g_sorting_kernels{[](Backend& backend) {
    kSortKernel.Register(backend, &Sort);
    kArgsortKernel.Register(backend, &Argsort);
}};

}  // namespace chainerx::native
