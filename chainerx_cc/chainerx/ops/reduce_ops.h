#pragma once

// The operations of reductions.

#include <limits>
#include <type_traits>

#include "chainerx/core/compute_type.h"
#include "chainerx/core/dtype.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/math.h"

namespace chainerx {

// A reduction: Map turns an element into an accumulator, Combine joins two. Those other than extremes have the same
// bits for integers with a sign and without.
template <class C>
struct SumOp {
    using Acc = C;
    static constexpr C kInit = 0;
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return a + b; }
};
template <class C>
struct NansumOp : SumOp<C> {
    CHAINERX_HOST_DEVICE static C Map(C v) { return v != v ? C{0} : v; }
};
template <class C>
struct ProdOp {
    using Acc = C;
    static constexpr C kInit = 1;
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) {
        if constexpr (kIsComplex<C>) {
            return math::Product(a, b);
        } else {
            return static_cast<C>(a * b);  // bool has no product
        }
    }
};
template <class C>
constexpr C Lowest() {
    if constexpr (std::is_floating_point_v<C>) {
        return -std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::lowest();
    }
}
template <class C>
constexpr C Highest() {
    if constexpr (std::is_floating_point_v<C>) {
        return std::numeric_limits<C>::infinity();
    } else {
        return std::numeric_limits<C>::max();
    }
}
// Extremes: Keep(a, b) is Combine(a, b) for a that is a number, and drops b that is not.
template <class C>
struct MaxOp {
    using Acc = C;
    CHAINERX_HOST_DEVICE static C Keep(C a, C b) { return b > a ? b : a; }
    static constexpr C kInit = Lowest<C>();
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return math::Max(a, b); }
};
template <class C>
struct MinOp {
    using Acc = C;
    CHAINERX_HOST_DEVICE static C Keep(C a, C b) { return b < a ? b : a; }
    static constexpr C kInit = Highest<C>();
    CHAINERX_HOST_DEVICE static C Map(C v) { return v; }
    CHAINERX_HOST_DEVICE static C Combine(C a, C b) { return math::Min(a, b); }
};
template <class C>
struct AllOp {
    using Acc = bool;
    static constexpr bool kInit = true;
    CHAINERX_HOST_DEVICE static bool Map(C v) { return v != C{}; }
    CHAINERX_HOST_DEVICE static bool Combine(bool a, bool b) { return a & b; }
};
template <class C>
struct AnyOp {
    using Acc = bool;
    static constexpr bool kInit = false;
    CHAINERX_HOST_DEVICE static bool Map(C v) { return v != C{}; }
    CHAINERX_HOST_DEVICE static bool Combine(bool a, bool b) { return a | b; }
};

template <class O, class = void>
struct IsExtreme : std::false_type {};
template <class O>
struct IsExtreme<O, std::void_t<decltype(&O::Keep)>> : std::true_type {};

// A reduction of elements in memory.
template <template <class> class Operation, class E>
struct Reduction {
    using Element = E;
    using C = typename ComputeType<E>::type;
    using Op = Operation<C>;
    using Acc = typename Op::Acc;
};

}  // namespace chainerx
