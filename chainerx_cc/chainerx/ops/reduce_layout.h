#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/operands.h"

namespace chainerx {

// The reduction as loops: for each of `outer` results, over `reduce` elements, for `inner` neighbouring results.
// The input lies in contiguous memory of the shape (outer, reduce, inner).
struct ReduceLayout {
    Array in;  // contiguous
    int64_t outer{1};
    int64_t reduce{1};
    int64_t inner{1};
};

// Brings the reduced axes next to each other. Most reductions are over leading or trailing axes and need no copy.
inline ReduceLayout MakeReduceLayout(const Array& a, const Axes& axes) {
    ReduceLayout l;
    int8_t n = static_cast<int8_t>(axes.size());
    bool adjacent = n == 0 || axes[n - 1] - axes[0] == n - 1;
    if (adjacent) {
        l.in = Contiguous(a);
        int8_t first = n == 0 ? a.ndim() : axes[0];
        for (int8_t i = 0; i < a.ndim(); ++i) {
            (i < first ? l.outer : i < first + n ? l.reduce : l.inner) *= a.shape()[i];
        }
        return l;
    }
    Axes order;
    for (int8_t i = 0; i < a.ndim(); ++i) {
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
            order.push_back(i);
            l.outer *= a.shape()[i];
        }
    }
    for (int8_t i : axes) {
        order.push_back(i);
        l.reduce *= a.shape()[i];
    }
    l.in = Contiguous(Permuted(a, order));
    return l;
}

}  // namespace chainerx
