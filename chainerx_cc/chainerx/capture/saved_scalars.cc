#include "chainerx/capture/saved_scalars.h"

#include <cmath>
#include <limits>
#include <utility>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

// Of rules of Adam.
size_t CountValues(PlanScalars::Rule rule) { return rule == PlanScalars::Rule::kAdam ? 6 : 8; }

}  // namespace

void WriteScalars(const std::vector<PlanScalars>& all, ByteWriter& out) {
    out.Number(all.size());
    for (const PlanScalars& s : all) {
        out.Number(s.index);
        out.Number(static_cast<uint64_t>(s.rule));
        out.Number(static_cast<uint64_t>(s.updates));
        out.Number(s.values.size());
        for (double v : s.values) out.Double(v);
    }
}

std::vector<PlanScalars> ReadScalars(ByteReader& in) {
    std::vector<PlanScalars> all;
    for (uint64_t n = in.Number(); n > 0; --n) {
        PlanScalars s{in.Index(SIZE_MAX), static_cast<PlanScalars::Rule>(in.Index(3)), 0, {}};
        s.updates = static_cast<int64_t>(in.Index(size_t{1} << 53));
        for (uint64_t k = in.Number(); k > 0; --k) s.values.push_back(in.Double());
        if (s.rule != PlanScalars::Rule::kFixed && s.values.size() != CountValues(s.rule)) {
            throw ValueError{"Adam has other scalars"};
        }
        all.push_back(std::move(s));
    }
    return all;
}

// As chainer.optimizers.Adam makes them.
std::vector<double> MakeScalars(const PlanScalars& s, int64_t update) {
    if (s.rule == PlanScalars::Rule::kFixed) return s.values;
    auto t = static_cast<double>(update);
    double fix1 = 1.0 - std::pow(s.values[1], t);
    double fix2 = 1.0 - std::pow(s.values[2], t);
    double lower = -std::numeric_limits<double>::infinity();
    double upper = -lower;
    if (s.rule == PlanScalars::Rule::kAdaBound) {
        lower = s.values[6] * (1.0 - 1.0 / (s.values[7] * t + 1));
        upper = s.values[6] * (1.0 + 1.0 / (s.values[7] * t));
    }
    return {s.values[0] * std::sqrt(fix2) / fix1,
            1.0 - s.values[1],
            1.0 - s.values[2],
            s.values[3],
            s.values[4],
            s.values[5],
            lower,
            upper};
}

}  // namespace chainerx
