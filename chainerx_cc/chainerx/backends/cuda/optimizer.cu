// Updates of parameters, each in one pass over memory.

#include <utility>
#include <vector>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/optimizer.h"

namespace chainerx::cuda {
namespace {

template <class T, int kWidth>
struct Pointers {
    T* data[kWidth];
};

template <class Rule, class T, int kWidth, size_t... K>
__device__ void Step(const Rule& rule, int64_t i, const Pointers<T, kWidth>& p, std::index_sequence<K...>) {
    using C = typename ComputeType<T>::type;
    C values[] = {static_cast<C>(p.data[2 + K][i])..., C{}};
    C param = static_cast<C>(p.data[0][i]);
    rule.Step(param, static_cast<C>(p.data[1][i]), values[K]...);
    ((p.data[2 + K][i] = Convert<C, T>(values[K])), ...);
    p.data[0][i] = Convert<C, T>(param);
}

template <class Rule, class T, int kWidth>
__global__ void UpdateElements(int64_t n, Rule rule, Pointers<T, kWidth> pointers) {
    int64_t i = ThreadIndex();
    if (i < n) Step(rule, i, pointers, std::make_index_sequence<kWidth - 2>{});
}

// One launch for each parameter, in order: parameters may share memory.
template <template <class> class Rule, int kStates>
void Update(const std::vector<double>& scalars, const std::vector<Array>& arrays) {
    constexpr int kWidth = 2 + kStates;
    auto count = static_cast<int64_t>(arrays.size()) / kWidth;
    for (int64_t i = 0; i < count; ++i) {
        int64_t n = arrays[i].GetTotalSize();
        if (n == 0) continue;
        Array flat[kWidth];
        for (int k = 0; k < kWidth; ++k) flat[k] = Contiguous(arrays[k * count + i]);
        VisitFloatDtype(flat[0].dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            using R = Rule<typename ComputeType<T>::type>;
            Pointers<T, kWidth> pointers;
            for (int k = 0; k < kWidth; ++k) pointers.data[k] = flat[k].template data<T>();
            Launch("the update of an optimizer", flat[0].device(), BlocksFor(n), kBlock, &UpdateElements<R, T, kWidth>,
                   n, R{scalars.data()}, pointers);
        });
        for (int k = 0; k < kWidth; ++k) {
            const Array& a = arrays[k * count + i];
            if (k != 1 && !a.IsContiguous()) CopyData(flat[k], a);
        }
    }
}

}  // namespace

const CudaKernels g_optimizer_kernels{[](Backend& backend) {
#define CHAINERX_REGISTER_UPDATE(Rule, name, n_states, n_scalars, doc) \
    k##Rule##Update.Register(backend, &Update<update_rules::Rule, n_states>);
    CHAINERX_UPDATE_RULES(CHAINERX_REGISTER_UPDATE)
#undef CHAINERX_REGISTER_UPDATE
}};

}  // namespace chainerx::cuda
