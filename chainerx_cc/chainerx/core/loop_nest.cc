#include "chainerx/core/loop_nest.h"

#include <algorithm>
#include <cstdlib>

namespace chainerx {

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

}  // namespace chainerx
