#pragma once

// Scalars of calls in files, and those of each update.

#include <cstdint>
#include <vector>

#include "chainerx/capture/byte_stream.h"
#include "chainerx/capture/saved_plan.h"

namespace chainerx {

void WriteScalars(const std::vector<PlanScalars>& all, ByteWriter& out);
// Raises ValueError for what MakeScalars cannot take.
std::vector<PlanScalars> ReadScalars(ByteReader& in);
// Those of the update of a number.
std::vector<double> MakeScalars(const PlanScalars& s, int64_t update);

}  // namespace chainerx
