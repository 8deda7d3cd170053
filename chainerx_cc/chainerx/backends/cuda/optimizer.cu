// Updates of parameters, each in one pass over memory. A launch takes as many parameters as it can.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "chainerx/backends/cuda/launch.h"
#include "chainerx/backends/cuda/pack.h"
#include "chainerx/core/compute_type.h"
#include "chainerx/core/convert.h"
#include "chainerx/core/operands.h"
#include "chainerx/ops/optimizer.h"

namespace chainerx::cuda {
namespace {

// A thread moves 16 bytes of each array.
template <class T>
constexpr int kPack = 16 / sizeof(T);

// A parameter, its gradient and its states.
template <class T, int kWidth>
struct Parameter {
    T* data[kWidth];
    int64_t n;
    int64_t first_block;  // of those that work on it

    __device__ bool IsAligned() const {
        uintptr_t bits = 0;
#pragma unroll
        for (int k = 0; k < kWidth; ++k) bits |= reinterpret_cast<uintptr_t>(data[k]);
        return bits % 16 == 0;
    }
};

// The argument of a launch.
template <class Rule, class T, int kWidth>
struct Group {
    static constexpr int kMaxBytes = 4096;  // of arguments, on all GPUs and drivers
    static constexpr int kMaxCount = (kMaxBytes - sizeof(Rule) - 2 * sizeof(int64_t)) / sizeof(Parameter<T, kWidth>);

    Rule rule;
    int count{0};
    Parameter<T, kWidth> parameters[kMaxCount]{};

    // The parameter that a block works on: the last one that begins there or before. None is empty.
    __device__ const Parameter<T, kWidth>& Find(int64_t block) const {
        int found = 0;
        for (int end = count; end - found > 1;) {
            int middle = (found + end) / 2;
            (parameters[middle].first_block <= block ? found : end) = middle;
        }
        return parameters[found];
    }
};

template <class Rule, class T, int kWidth, size_t... K>
__device__ void Step(const Rule& rule, int j, Pack<T, kPack<T>> (&packs)[kWidth], std::index_sequence<K...>) {
    using C = typename ComputeType<T>::type;
    C values[] = {static_cast<C>(packs[2 + K].values[j])..., C{}};
    C param = static_cast<C>(packs[0].values[j]);
    rule.Step(param, static_cast<C>(packs[1].values[j]), values[K]...);
    ((packs[2 + K].values[j] = Convert<C, T>(values[K])), ...);
    packs[0].values[j] = Convert<C, T>(param);
}

template <class Rule, class T, int kWidth>
__global__ void UpdateElements(const __grid_constant__ Group<Rule, T, kWidth> group) {
    constexpr int kCount = kPack<T>;
    const Parameter<T, kWidth>& p = group.Find(blockIdx.x);
    int64_t first = ((blockIdx.x - p.first_block) * kBlock + threadIdx.x) * kCount;
    if (first >= p.n) return;
    int count = p.n - first < kCount ? static_cast<int>(p.n - first) : kCount;
    bool whole = count == kCount && p.IsAligned();
    Pack<T, kCount> packs[kWidth];
#pragma unroll
    for (int k = 0; k < kWidth; ++k) packs[k] = LoadPack<kCount>(p.data[k] + first, count, whole);
#pragma unroll
    for (int j = 0; j < kCount; ++j) Step(group.rule, j, packs, std::make_index_sequence<kWidth - 2>{});
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
        if (k != 1) StorePack(packs[k], p.data[k] + first, count, whole);
    }
}

// Updates the parameters [begin, end) of all.
template <class Rule, class T, int kWidth>
void UpdateGroup(const std::vector<double>& scalars, const std::vector<Array>& arrays, size_t begin, size_t end) {
    Group<Rule, T, kWidth> group{Rule{scalars.data()}};
    static_assert(sizeof(group) <= group.kMaxBytes);
    size_t count = arrays.size() / kWidth;
    int64_t n_blocks = 0;
    std::vector<Array> flat;
    for (size_t i = begin; i < end; ++i) {
        for (int k = 0; k < kWidth; ++k) flat.push_back(Contiguous(arrays[k * count + i]));
        int64_t n = arrays[i].GetTotalSize();
        if (n == 0) continue;
        Parameter<T, kWidth>& p = group.parameters[group.count++];
        for (int k = 0; k < kWidth; ++k) p.data[k] = (flat.end() - kWidth + k)->template data<T>();
        p.n = n;
        p.first_block = n_blocks;
        n_blocks += BlocksFor(n, kBlock * kPack<T>).x;
    }
    if (n_blocks == 0) return;
    Launch("the update of an optimizer", arrays[0].device(), static_cast<unsigned>(n_blocks), kBlock,
           &UpdateElements<Rule, T, kWidth>, group);
    for (size_t i = 0; i < flat.size(); ++i) {
        const Array& a = arrays[i % kWidth * count + begin + i / kWidth];
        if (i % kWidth != 1 && !a.IsContiguous()) CopyData(flat[i], a);
    }
}

template <template <class> class Rule, int kStates>
void Update(const std::vector<double>& scalars, const std::vector<Array>& arrays) {
    VisitFloatDtype(arrays[0].dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        using R = Rule<typename ComputeType<T>::type>;
        constexpr int kWidth = 2 + kStates;
        size_t count = arrays.size() / kWidth;
        size_t step = ParametersOverlap(arrays, count) ? 1 : Group<R, T, kWidth>::kMaxCount;
        for (size_t i = 0; i < count; i += step) {
            UpdateGroup<R, T, kWidth>(scalars, arrays, i, std::min(i + step, count));
        }
    });
}

}  // namespace

const CudaKernels g_optimizer_kernels{[](Backend& backend) {
#define CHAINERX_REGISTER_UPDATE(Rule, name, n_states, n_scalars, doc) \
    k##Rule##Update.Register(backend, &Update<update_rules::Rule, n_states>);
    CHAINERX_UPDATE_RULES(CHAINERX_REGISTER_UPDATE)
#undef CHAINERX_REGISTER_UPDATE
}};

}  // namespace chainerx::cuda
