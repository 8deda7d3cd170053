#include "chainerx/ops/optimizer.h"

#include <algorithm>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx {

#define CHAINERX_DEFINE_UPDATE_RULE(Rule, name, n_states, n_scalars, doc) \
    const UpdateRule k##Rule##Update{name, n_states, n_scalars};
CHAINERX_UPDATE_RULES(CHAINERX_DEFINE_UPDATE_RULE)
#undef CHAINERX_DEFINE_UPDATE_RULE

namespace {

void Check(const UpdateRule& rule, const std::vector<Array>& arrays, const std::vector<double>& scalars) {
    if (scalars.size() != static_cast<size_t>(rule.n_scalars)) {
        throw DimensionError{rule.name(), ": expected ", rule.n_scalars, " scalars, not ", scalars.size()};
    }
    auto width = static_cast<size_t>(rule.width());
    if (arrays.size() % width != 0) {
        throw DimensionError{rule.name(),   ": every parameter needs ", width, " arrays, but ",
                             arrays.size(), " arrays were given"};
    }
    size_t count = arrays.size() / width;
    for (size_t i = 0; i < arrays.size(); ++i) {
        const Array& a = arrays[i];
        const Array& param = arrays[i % count];
        if (!IsFloat(a.dtype())) {
            throw DtypeError{rule.name(), ": arrays must be of a floating point dtype, not ", a.dtype()};
        }
        if (a.dtype() != arrays[0].dtype()) {
            throw DtypeError{rule.name(), ": arrays are of different dtypes, ", arrays[0].dtype(), " and ", a.dtype()};
        }
        if (a.shape() != param.shape()) {
            throw DimensionError{rule.name(), ": an array has shape ", a.shape(), " but the parameter ", param.shape()};
        }
        CheckDevices(arrays[0], a);
    }
}

}  // namespace

bool ParametersOverlap(const std::vector<Array>& arrays, size_t count) {
    std::vector<std::pair<const char*, const char*>> ranges;
    for (size_t i = 0; i < count; ++i) {
        const Array& a = arrays[i];
        const char* begin = a.raw_data();
        auto bytes = static_cast<size_t>(a.GetNBytes());
        if (!a.IsContiguous()) {  // its elements may be anywhere
            begin = static_cast<const char*>(a.body()->storage->data());
            bytes = a.body()->storage->bytes();
        }
        ranges.emplace_back(begin, begin + bytes);
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i) {
        if (ranges[i].first < ranges[i - 1].second) return true;
    }
    return false;
}

void UpdateParameters(const UpdateRule& rule, const std::vector<Array>& arrays, const std::vector<double>& scalars) {
    Check(rule, arrays, scalars);
    if (arrays.empty()) return;
    rule(arrays[0].device(), scalars, arrays);
    // The arrays keep their versions: losses that share a graph, such as those of adversarial networks, are used in
    // turn, each followed by a step, and a graph that was made before a step goes on with the new parameters.
}

}  // namespace chainerx
