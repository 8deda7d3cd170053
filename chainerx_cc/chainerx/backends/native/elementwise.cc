#include "chainerx/backends/native/elementwise.h"

#include <algorithm>
#include <cstdlib>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/core/blocking.h"

namespace chainerx::native {
namespace {

// Elements per task, and the size from which other threads are let in while the loop runs.
constexpr int64_t kGrain = 32768;

}  // namespace

LoopNest::LoopNest(const Shape& shape, int n, const Strides* s) : n_operands{n}, size{shape.GetTotalSize()} {
    // Order by the strides of the first operand (the output) so that memory is walked forward.
    int order[kMaxNdim];
    int count = 0;
    for (int i = 0; i < shape.ndim(); ++i) {
        if (shape[i] != 1) order[count++] = i;
    }
    std::stable_sort(order, order + count, [&](int a, int b) { return std::abs(s[0][a]) > std::abs(s[0][b]); });
    for (int j = 0; j < count; ++j) {
        int i = order[j];
        bool merge = ndim > 0;
        for (int k = 0; merge && k < n; ++k) merge = strides[ndim - 1][k] == s[k][i] * shape[i];
        if (merge) {
            lengths[ndim - 1] *= shape[i];
        } else {
            lengths[ndim++] = shape[i];
        }
        for (int k = 0; k < n; ++k) strides[ndim - 1][k] = s[k][i];
    }
    if (ndim == 0) {
        lengths[0] = 1;
        for (int k = 0; k < n; ++k) strides[0][k] = 0;
        ndim = 1;
    }
}

void RunRows(const ElementwiseCall& call, RowFunction row, int /*cost*/) {
    const Array& out = *call.out;
    int64_t size = out.GetTotalSize();
    if (size == 0) return;
    int n = call.n_inputs + 1;
    char* data[LoopNest::kMaxOperands];
    int64_t strides[LoopNest::kMaxOperands];
    data[0] = out.raw_data();
    strides[0] = out.GetItemSize();
    bool flat = out.IsContiguous();
    for (int i = 0; i < call.n_inputs; ++i) {
        const Array* a = call.in[i];
        if (a == nullptr) {
            data[i + 1] = const_cast<char*>(call.scalars[i]);
            strides[i + 1] = 0;
        } else {
            data[i + 1] = a->raw_data();
            strides[i + 1] = a->GetTotalSize() == 1 ? 0 : a->GetItemSize();
            flat = flat && (a->GetTotalSize() == 1 || (a->IsContiguous() && a->shape() == out.shape()));
        }
    }
    if (CHAINERX_LIKELY(flat)) {
        if (CHAINERX_LIKELY(size <= kGrain)) {
            row(call.op, size, data, strides);
            return;
        }
        BlockingScope blocking;
        ParallelFor(size, kGrain, [&](int64_t begin, int64_t end) {
            char* p[LoopNest::kMaxOperands];
            for (int k = 0; k < n; ++k) p[k] = data[k] + begin * strides[k];
            row(call.op, end - begin, p, strides);
        });
        return;
    }
    Strides full[LoopNest::kMaxOperands];
    full[0] = out.strides();
    for (int i = 0; i < call.n_inputs; ++i) {
        const Array* a = call.in[i];
        full[i + 1] = a == nullptr ? Strides(out.ndim(), 0) : BroadcastStrides(a->shape(), a->strides(), out.shape());
    }
    LoopNest nest{out.shape(), n, full};
    int64_t length = nest.lengths[nest.ndim - 1];
    const int64_t* inner = nest.strides[nest.ndim - 1];
    BlockingScope blocking{size > kGrain};
    ParallelFor(nest.OuterSize(), std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
        nest.ForRows(data, begin, end, [&](int64_t m, char* const* p) { row(call.op, m, p, inner); });
    });
}

}  // namespace chainerx::native
