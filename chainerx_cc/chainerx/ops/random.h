#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/random_generator.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Kernels that fill an array with the numbers of a stream, for floating point dtypes: shift + factor u, u in [0, 1) or
// standard normal; for int64: integers in [low, high).
using RandomFloatKernel = KernelSlot<void(const RandomStream& stream, double shift, double factor, const Array& out)>;
using RandomIntegersKernel = KernelSlot<void(const RandomStream& stream, int64_t low, int64_t high, const Array& out)>;
// y = 0 with probability `ratio`, else x / (1 - ratio); contiguous.
using DropoutKernel = KernelSlot<void(const RandomStream& stream, double ratio, const Array& x, const Array& y)>;
extern const RandomFloatKernel kRandomUniformKernel;
extern const RandomFloatKernel kRandomNormalKernel;
extern const RandomIntegersKernel kRandomIntegersKernel;
extern const DropoutKernel kDropoutKernel;

// Numbers from the generator of the device's context.
Array RandomUniform(const Shape& shape, double low = 0, double high = 1, Dtype dtype = Dtype::kFloat64,
                    Device& device = GetDefaultDevice());
Array RandomNormal(const Shape& shape, double loc = 0, double scale = 1, Dtype dtype = Dtype::kFloat64,
                   Device& device = GetDefaultDevice());
// int64, from `low` on and below `high`.
Array RandomIntegers(const Shape& shape, int64_t low, int64_t high, Device& device = GetDefaultDevice());

// Zero with probability `ratio`, otherwise x / (1 - ratio); or x * mask, if there is a mask. The backward computation
// draws the same numbers again instead of keeping a mask.
Array Dropout(const Array& x, double ratio = 0.5, const std::optional<Array>& mask = std::nullopt);

#define CHAINERX_RANDOM_ROUTINES(X) \
    X(Dropout)                      \
    X(RandomUniform)                \
    X(RandomNormal)                 \
    X(RandomIntegers)

CHAINERX_RANDOM_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
