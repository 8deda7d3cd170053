// Updates of parameters, each in one pass over memory.

#include "chainerx/ops/optimizer.h"

#include <algorithm>
#include <vector>

#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/native_backend.h"
#include "chainerx/backends/native/optimizer.h"
#include "chainerx/core/blocking.h"
#include "chainerx/core/operands.h"

namespace chainerx::native {
namespace {

// The number of elements that makes a thread worthwhile.
constexpr int64_t kOptimizerGrain = 32768;

// Updates contiguous arrays. Threads divide the elements of all parameters, so many small parameters cost no more than
// a large one.
template <template <class> class Rule, int kStates, class T>
void RunRanges(const double* scalars, const Array* arrays, int64_t count) {
    constexpr int kWidth = 2 + kStates;
    std::vector<int64_t> starts(count + 1, 0);
    for (int64_t i = 0; i < count; ++i) starts[i + 1] = starts[i] + arrays[i].GetTotalSize();
    ParallelFor(starts[count], kOptimizerGrain, [&](int64_t begin, int64_t end) {
        int64_t i = std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin() - 1;
        for (; begin < end; ++i) {
            T* data[kWidth];
            for (int k = 0; k < kWidth; ++k) data[k] = arrays[k * count + i].template data<T>() + (begin - starts[i]);
            int64_t stop = std::min(end, starts[i + 1]);
            UpdateElements<UpdateOf<Rule, kStates, T>>(scalars, stop - begin, data);
            begin = stop;
        }
    });
}

template <template <class> class Rule, int kStates>
void RunFlat(const double* scalars, const Array* arrays, int64_t count, bool is_long) {
    BlockingScope blocking{is_long};
    VisitFloatDtype(arrays[0].dtype(),
                    [&](auto tag) { RunRanges<Rule, kStates, typename decltype(tag)::type>(scalars, arrays, count); });
}

template <template <class> class Rule, int kStates>
void Update(const std::vector<double>& scalars, const std::vector<Array>& arrays) {
    constexpr int kWidth = 2 + kStates;
    auto count = static_cast<int64_t>(arrays.size()) / kWidth;
    int64_t total = 0;
    for (int64_t i = 0; i < count; ++i) total += arrays[i].GetTotalSize();
    bool is_long = total > kOptimizerGrain;
    bool is_flat = std::all_of(arrays.begin(), arrays.end(), [](const Array& a) { return a.IsContiguous(); });
    // A single thread works in order anyway.
    if (count > 1 && (is_long || !is_flat) && ParametersOverlap(arrays, count)) {
        for (int64_t i = 0; i < count; ++i) {
            std::vector<Array> one;
            for (int k = 0; k < kWidth; ++k) one.push_back(arrays[k * count + i]);
            Update<Rule, kStates>(scalars, one);
        }
        return;
    }
    if (is_flat) {
        RunFlat<Rule, kStates>(scalars.data(), arrays.data(), count, is_long);
        return;
    }
    // Arrays that are not contiguous are copied out and back.
    std::vector<Array> flat{arrays};
    for (Array& a : flat) {
        a = Contiguous(a);
    }
    RunFlat<Rule, kStates>(scalars.data(), flat.data(), count, is_long);
    for (size_t i = 0; i < flat.size(); ++i) {
        if (static_cast<int64_t>(i) / count != 1 && !arrays[i].IsContiguous()) CopyData(flat[i], arrays[i]);
    }
}

}  // namespace

const NativeKernels g_optimizer_kernels{[](Backend& backend) {
#define CHAINERX_REGISTER_UPDATE(Rule, name, n_states, n_scalars, doc) \
    k##Rule##Update.Register(backend, &Update<update_rules::Rule, n_states>);
    CHAINERX_UPDATE_RULES(CHAINERX_REGISTER_UPDATE)
#undef CHAINERX_REGISTER_UPDATE
}};

}  // namespace chainerx::native
