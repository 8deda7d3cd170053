#pragma once

#include <cstdint>

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Softmax over the middle axis of x (outer, n, inner); y, gy and gx have its shape.

CHAINERX_ISA_KERNEL(SoftmaxForward, (int64_t outer, int64_t n, int64_t inner, const T* x, T* y),
                    (outer, n, inner, x, y))
CHAINERX_ISA_KERNEL(LogSoftmaxForward, (int64_t outer, int64_t n, int64_t inner, const T* x, T* y),
                    (outer, n, inner, x, y))

// gx from y = softmax(x): y (gy - sum(y gy))
CHAINERX_ISA_KERNEL(SoftmaxBackward, (int64_t outer, int64_t n, int64_t inner, const T* y, const T* gy, T* gx),
                    (outer, n, inner, y, gy, gx))

// gx from y = log_softmax(x): gy - exp(y) sum(gy)
CHAINERX_ISA_KERNEL(LogSoftmaxBackward, (int64_t outer, int64_t n, int64_t inner, const T* y, const T* gy, T* gx),
                    (outer, n, inner, y, gy, gx))

// loss (outer, inner) = -log_softmax(x)[t], 0 where t (outer, inner) is ignore_label; log_sum (outer, inner) is
// log(sum(exp(x))), for the backward pass. Labels must be in [0, n) or ignore_label: the caller checks.
CHAINERX_ISA_KERNEL(SoftmaxCrossEntropyForward,
                    (int64_t outer, int64_t n, int64_t inner, const T* x, const int64_t* t, int64_t ignore_label,
                     T* loss, T* log_sum),
                    (outer, n, inner, x, t, ignore_label, loss, log_sum))

// gx = (softmax(x) - onehot(t)) gloss with gloss (outer, inner); 0 where t is ignore_label.
CHAINERX_ISA_KERNEL(SoftmaxCrossEntropyBackward,
                    (int64_t outer, int64_t n, int64_t inner, const T* x, const int64_t* t, int64_t ignore_label,
                     const T* log_sum, const T* gloss, T* gx),
                    (outer, n, inner, x, t, ignore_label, log_sum, gloss, gx))

}  // namespace chainerx::native
