// Compiled without contraction, for the same results as NumPy, which rounds products before adding them.

#include <utility>

#include "chainerx/backends/native/optimizer.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/ops/optimizer.h"

namespace chainerx::native::CHAINERX_ISA {

template <class T, size_t... K>
inline __attribute__((always_inline)) void UpdateStates(const double* scalars, int64_t n,
                                                        typename T::Element* const* data, std::index_sequence<K...>) {
    using E = typename T::Element;
    using C = typename ComputeType<E>::type;
    const typename T::template RuleOf<C> rule{scalars};
    E* const p = data[0];
    const E* const g = data[1];
    // A rule may have no state, but C++ arrays need at least one element.
    [[maybe_unused]] E* const states[] = {data[2 + K]..., nullptr};
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        auto param = static_cast<C>(p[i]);
        C values[] = {static_cast<C>(states[K][i])..., C{}};
        rule.Step(param, static_cast<C>(g[i]), values[K]...);
        ((states[K][i] = static_cast<E>(values[K])), ...);
        p[i] = static_cast<E>(param);
    }
}

template <class T>
__attribute__((flatten)) void UpdateElements(const double* scalars, int64_t n, typename T::Element* const* data) {
    UpdateStates<T>(scalars, n, data, std::make_index_sequence<T::kStates>{});
}

#define CHAINERX_INSTANTIATE(Rule, n_states, E) \
    template void UpdateElements<UpdateOf<update_rules::Rule, n_states, E>>(const double*, int64_t, E* const*);
#define CHAINERX_X(Rule, name, n_states, n_scalars, doc) \
    CHAINERX_INSTANTIATE(Rule, n_states, Float16)        \
    CHAINERX_INSTANTIATE(Rule, n_states, Bfloat16)       \
    CHAINERX_INSTANTIATE(Rule, n_states, float)          \
    CHAINERX_INSTANTIATE(Rule, n_states, double)
CHAINERX_UPDATE_RULES(CHAINERX_X)
#undef CHAINERX_X
#undef CHAINERX_INSTANTIATE

}  // namespace chainerx::native::CHAINERX_ISA
