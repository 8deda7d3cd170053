#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// A rule of ops/optimizer.h for parameters of one type.
template <template <class> class Rule, int states, class E>
struct UpdateOf {
    static constexpr int kStates = states;
    using Element = E;
    template <class C>
    using RuleOf = Rule<C>;
};

// Updates contiguous elements. `T`: an UpdateOf; `data`: the parameters, the gradients, and the states.
CHAINERX_ISA_KERNEL(UpdateElements, (const double* scalars, int64_t n, typename T::Element* const* data),
                    (scalars, n, data))

}  // namespace chainerx::native
