#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/routine.h"

// Discrete Fourier transforms. float64 and complex128 are transformed in double precision, other dtypes in single
// precision.

namespace chainerx {

// Which transforms are divided by the number of elements n: inverse ones, all by sqrt(n), or forward ones.
enum class FftNorm { kBackward, kOrtho, kForward };
CHAINERX_ENUM_WORDS(FftNorm, "backward", "ortho", "forward");
using OptionalFftNorm = std::optional<FftNorm>;

// The transform along the axes, times a factor, of exp(-2 pi i jk / n) if forward and exp(2 pi i jk / n) otherwise. The
// dtypes of the arrays, of one precision, tell which: from complex numbers to complex ones; from real to complex ones,
// of which the last of the axes has the frequencies 0 to n / 2, the others being their conjugates; and from such halves
// to real numbers. There is at least one axis and no axis of length zero.
using FourierKernel = KernelSlot<void(const Array& a, const Axes& axes, bool forward, double factor, const Array& out)>;
extern const FourierKernel kFourierKernel;

// Along one axis, cut off or continued by zeros to the length n.
Array Fft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
          const OptionalFftNorm& norm = FftNorm::kBackward);
Array Ifft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
           const OptionalFftNorm& norm = FftNorm::kBackward);
// Of real arrays, to the frequencies 0 to n / 2.
Array Rfft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
           const OptionalFftNorm& norm = FftNorm::kBackward);
// To real arrays of length n, by default the even one.
Array Irfft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
            const OptionalFftNorm& norm = FftNorm::kBackward);
// Irfft and Rfft in the other direction.
Array Hfft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
           const OptionalFftNorm& norm = FftNorm::kBackward);
Array Ihfft(const Array& a, const std::optional<int64_t>& n = std::nullopt, int64_t axis = -1,
            const OptionalFftNorm& norm = FftNorm::kBackward);

// Along several axes, with a length for each of them; -1 keeps the length. Without axes, the last ones that have
// lengths, or all of them.
using FftLengths = std::optional<std::vector<int64_t>>;
using FftAxes = std::optional<std::vector<int64_t>>;
Array Fftn(const Array& a, const FftLengths& s = std::nullopt, const FftAxes& axes = std::nullopt,
           const OptionalFftNorm& norm = FftNorm::kBackward);
Array Ifftn(const Array& a, const FftLengths& s = std::nullopt, const FftAxes& axes = std::nullopt,
            const OptionalFftNorm& norm = FftNorm::kBackward);
// The last of the axes has a half of the frequencies.
Array Rfftn(const Array& a, const FftLengths& s = std::nullopt, const FftAxes& axes = std::nullopt,
            const OptionalFftNorm& norm = FftNorm::kBackward);
Array Irfftn(const Array& a, const FftLengths& s = std::nullopt, const FftAxes& axes = std::nullopt,
             const OptionalFftNorm& norm = FftNorm::kBackward);

// The frequencies of n samples at distances d, float64 unless another dtype is given.
Array Fftfreq(int64_t n, double d = 1, const std::optional<Dtype>& dtype = std::nullopt,
              Device& device = GetDefaultDevice());
Array Rfftfreq(int64_t n, double d = 1, const std::optional<Dtype>& dtype = std::nullopt,
               Device& device = GetDefaultDevice());
// Moves the frequency zero to the middle, and back.
Array Fftshift(const Array& x, const FftAxes& axes = std::nullopt);
Array Ifftshift(const Array& x, const FftAxes& axes = std::nullopt);

#define CHAINERX_FFT_ROUTINES(X) \
    X(Fft)                       \
    X(Ifft)                      \
    X(Fftn)                      \
    X(Ifftn)                     \
    X(Rfft)                      \
    X(Irfft)                     \
    X(Rfftn)                     \
    X(Irfftn)                    \
    X(Hfft)                      \
    X(Ihfft)                     \
    X(Fftfreq)                   \
    X(Rfftfreq)                  \
    X(Fftshift)                  \
    X(Ifftshift)

CHAINERX_FFT_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
