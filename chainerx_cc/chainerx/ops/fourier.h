#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/ops/fft.h"

// The three kinds of Fourier transforms, with their gradients, of which fft.cc makes the functions.

namespace chainerx::fourier {

// Axes in the order in which they were given, and the lengths of the transform along them.
struct Target {
    Axes axes;
    Shape lengths;
};

// Whether the results are real: half of their length, which is even then unless given, is what the array has.
enum class Result { kComplex, kReal };

Target Along(const Array& a, const std::optional<int64_t>& n, int64_t axis, Result result = Result::kComplex);
Target Along(const Array& a, const FftLengths& s, const FftAxes& axes, Result result = Result::kComplex);
// The axes of a list. Raises if one is repeated.
Axes ToAxes(const std::vector<int64_t>& list, int8_t ndim);

// The transforms of an array that is cut off or continued by zeros to the lengths.
Array ComplexToComplex(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm);
Array RealToHalf(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm);
Array HalfToReal(const Array& a, const Target& t, bool forward, const OptionalFftNorm& norm);

}  // namespace chainerx::fourier
