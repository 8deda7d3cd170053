#pragma once

// How the columns of an implicit im2col matrix lie in an image. For *_isa.cc sources only.
//
// Columns are output positions in row-major order; a tap is one kernel position. The image element of
// (column, tap) is at column * stride + offset[tap] in each dimension, zero outside. A vector of consecutive
// columns is then a few runs of elements, the same for every channel: that plan is made once per vector
// and tap and used for all channels.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/simd.h"

namespace chainerx {
namespace native {
namespace CHAINERX_ISA {

struct Window {
    int ndim;
    int64_t taps;
    const int64_t* offsets;            // (taps, ndim)
    int64_t image[kMaxSpatialDims];    // sizes of the image
    int64_t columns[kMaxSpatialDims];  // sizes of the column space
    int64_t stride[kMaxSpatialDims];
};

// Lanes first .. first + count - 1 of a vector come from image[offset + lane * step].
struct Run {
    int64_t offset;
    uint32_t lanes;
};

// The runs of one vector of columns for every tap: one, perhaps empty, for each row that the vector touches.
template <class T>
class VectorPlan {
public:
    explicit VectorPlan(const Window& window)
        : window_(window), step_(window.stride[window.ndim - 1]), runs_{window.taps * Simd<T>::kSize} {}

    // For columns [column, column + count), 0 < count <= kSize; further lanes are zero.
    void Make(int64_t column, int count) {
        const Window& w = window_;
        int last = w.ndim - 1;
        int64_t position[kMaxSpatialDims];
        for (int d = last; d >= 0; --d) {
            position[d] = column % w.columns[d];
            column /= w.columns[d];
        }
        rows_ = (position[last] + count + w.columns[last] - 1) / w.columns[last];
        int64_t lane = 0;
        for (int64_t row = 0; row < rows_; ++row) {
            int64_t length = w.columns[last] - position[last];
            length = length < count - lane ? length : count - lane;
            for (int64_t tap = 0; tap < w.taps; ++tap) {
                runs_.data()[tap * rows_ + row] = MakeRun(position, length, lane, w.offsets + tap * w.ndim);
            }
            lane += length;
            position[last] = 0;
            for (int d = last - 1; d >= 0 && ++position[d] == w.columns[d]; --d) {
                position[d] = 0;
            }
        }
    }

    // The vector for a channel's image.
    CHAINERX_INLINE Vec<T> Read(const T* image, int64_t tap) const {
        const Run* run = runs_.data() + tap * rows_;
        if (step_ == 1) {
            Vec<T> v = LoadMasked(image + run->offset, run->lanes);
            for (int64_t row = 1; row < rows_; ++row) {
                v += LoadMasked(image + run[row].offset, run[row].lanes);  // lanes are disjoint
            }
            return v;
        }
#if defined(__BMI2__)
        if (step_ == 2) {
            // Every second element of two vectors
            Vec<T> low{};
            Vec<T> high{};
            for (int64_t row = 0; row < rows_; ++row, ++run) {
                uint32_t spread = _pdep_u32(run->lanes, 0x55555555U);
                low += LoadMasked(image + run->offset, spread & ((uint64_t{1} << Simd<T>::kSize) - 1));
                high += LoadMasked(image + run->offset + Simd<T>::kSize, spread >> Simd<T>::kSize);
            }
            return EvenLanes<T>(low, high);
        }
#endif
        T lanes[Simd<T>::kSize] = {};
        for (int64_t row = 0; row < rows_; ++row, ++run) {
            const T* base = image + run->offset;
            for (uint32_t rest = run->lanes; rest != 0; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                lanes[lane] = base[lane * step_];
            }
        }
        return Load(lanes);
    }

private:
    // Columns at `position`, `length` of one row, in the lanes from `lane` on
    Run MakeRun(const int64_t* position, int64_t length, int64_t lane, const int64_t* offset) const {
        const Window& w = window_;
        int last = w.ndim - 1;
        int64_t row = 0;
        for (int d = 0; d < last; ++d) {
            int64_t index = position[d] * w.stride[d] + offset[d];
            if (index < 0 || index >= w.image[d]) {
                return Run{0, 0};
            }
            row = row * w.image[d] + index;
        }
        // Columns c of the row with 0 <= c * step + offset < size
        int64_t begin = position[last];
        int64_t end = begin + length;
        int64_t first = begin * step_ + offset[last];
        if (first < 0) {
            begin += (-first + step_ - 1) / step_;
        }
        if ((end - 1) * step_ + offset[last] >= w.image[last]) {
            end = w.image[last] > offset[last] ? (w.image[last] - offset[last] + step_ - 1) / step_ : 0;
        }
        if (begin >= end) {
            return Run{0, 0};
        }
        int64_t first_lane = lane + begin - position[last];
        int64_t index = row * w.image[last] + begin * step_ + offset[last];
        auto lanes = static_cast<uint32_t>(((uint64_t{1} << (end - begin)) - 1) << first_lane);
        return Run{index - first_lane * step_, lanes};
    }

    const Window& window_;
    int64_t step_;
    int64_t rows_{0};
    Scratch<Run> runs_;  // (taps, rows_)
};

}  // namespace CHAINERX_ISA
}  // namespace native
}  // namespace chainerx
