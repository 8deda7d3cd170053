// Compiled without contraction: parameters are updated as by NumPy, which rounds products before it adds them.

#include "chainerx/backends/native/compute_type.h"
#include "chainerx/backends/native/optimizer.h"
#include "chainerx/ops/optimizer.h"

namespace chainerx::native::CHAINERX_ISA {

template <class T>
__attribute__((flatten)) void UpdateElements(const double* scalars, int64_t n, typename T::Element* const* data) {
    using E = typename T::Element;
    using C = typename ComputeType<E>::type;
    constexpr int kStates = T::kStates;
    constexpr int kWidth = 2 + kStates;
    const typename T::template RuleOf<C> rule{scalars};
    E* const p = data[0];
    const E* const g = data[1];
    E* const s0 = kStates > 0 ? data[kWidth - kStates] : nullptr;
    E* const s1 = kStates > 1 ? data[kWidth - kStates + 1] : nullptr;
    E* const s2 = kStates > 2 ? data[kWidth - 1] : nullptr;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        auto param = static_cast<C>(p[i]);
        auto grad = static_cast<C>(g[i]);
        if constexpr (kStates == 0) {
            rule.Step(param, grad);
        } else {
            auto state0 = static_cast<C>(s0[i]);
            if constexpr (kStates == 1) {
                rule.Step(param, grad, state0);
            } else {
                auto state1 = static_cast<C>(s1[i]);
                if constexpr (kStates == 2) {
                    rule.Step(param, grad, state0, state1);
                } else {
                    auto state2 = static_cast<C>(s2[i]);
                    rule.Step(param, grad, state0, state1, state2);
                    s2[i] = static_cast<E>(state2);
                }
                s1[i] = static_cast<E>(state1);
            }
            s0[i] = static_cast<E>(state0);
        }
        p[i] = static_cast<E>(param);
    }
}

#define CHAINERX_INSTANTIATE(Rule, n_states, E) \
    template void UpdateElements<UpdateOf<update_rules::Rule, n_states, E>>(const double*, int64_t, E* const*);
#define CHAINERX_X(Rule, name, n_states, n_scalars, doc) \
    CHAINERX_INSTANTIATE(Rule, n_states, Float16)        \
    CHAINERX_INSTANTIATE(Rule, n_states, float)          \
    CHAINERX_INSTANTIATE(Rule, n_states, double)
CHAINERX_UPDATE_RULES(CHAINERX_X)
#undef CHAINERX_X
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
