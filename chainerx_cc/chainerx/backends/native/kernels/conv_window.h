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

namespace chainerx::native::CHAINERX_ISA {

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
    // The most runs that a plan may have.
    static int64_t MaxRuns(const Window& window) { return window.taps * Simd<T>::kSize; }

    // For columns [column, column + count), 0 < count <= kSize; further lanes are zero. `runs` is memory for the plan,
    // which uses the first GetRunCount() of them.
    void Make(const Window& w, int64_t column, int count, Run* runs) {
        step_ = w.stride[w.ndim - 1];
        taps_ = w.taps;
        runs_ = runs;
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
            const int64_t* offset = w.offsets;
            int64_t image_row = 0;
            for (int64_t tap = 0; tap < w.taps; ++tap, offset += w.ndim) {
                // Neighbouring taps mostly see the same row of the image.
                if (tap == 0 || !IsSameRow(w, offset, offset - w.ndim)) {
                    image_row = FindRow(w, position, offset);
                }
                runs[tap * rows_ + row] = MakeRun(w, position[last], length, lane, image_row, offset[last]);
            }
            lane += length;
            position[last] = 0;
            for (int d = last - 1; d >= 0 && ++position[d] == w.columns[d]; --d) {
                position[d] = 0;
            }
        }
    }

    int64_t GetRunCount() const { return taps_ * rows_; }

    // The vector for a channel's image.
    CHAINERX_INLINE Vec<T> Read(const T* image, int64_t tap) const {
        const Run* run = runs_ + tap * rows_;
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

    // The vectors for `count` images, which lie `image_size` apart. They go to `out`, `step` elements apart.
    CHAINERX_INLINE void Copy(const T* image, int64_t image_size, int64_t count, int64_t tap, T* out,
                              int64_t step) const {
        const Run* run = runs_ + tap * rows_;
        if (step_ == 1 && rows_ <= 2) {
            Run first = run[0];
            Run second = rows_ == 2 ? run[1] : Run{0, 0};
            for (int64_t i = 0; i < count; ++i, image += image_size, out += step) {
                Vec<T> v = LoadMasked(image + first.offset, first.lanes);
                if (rows_ == 2) {
                    v += LoadMasked(image + second.offset, second.lanes);
                }
                Store(out, v);
            }
            return;
        }
        if (step_ == 2 && rows_ == 1 && run->lanes == kAllLanes) {
            const T* from = image + run->offset;
            for (int64_t i = 0; i < count; ++i, from += image_size, out += step) {
                // The second vector begins one element earlier: the one after its last may lie behind the image.
                Store(out, EvenThenOdd<T>(Load(from), Load(from + Simd<T>::kSize - 1)));
            }
            return;
        }
        for (int64_t i = 0; i < count; ++i, image += image_size, out += step) {
            Store(out, Read(image, tap));
        }
    }

private:
    static constexpr uint32_t kAllLanes = (uint64_t{1} << Simd<T>::kSize) - 1;

    static CHAINERX_INLINE bool IsSameRow(const Window& w, const int64_t* a, const int64_t* b) {
        bool same = true;
        for (int d = 0; d < w.ndim - 1; ++d) {
            same = same && a[d] == b[d];
        }
        return same;
    }

    // The number of the image's row that a tap sees from columns at `position`, or -1 outside.
    static CHAINERX_INLINE int64_t FindRow(const Window& w, const int64_t* position, const int64_t* offset) {
        int64_t row = 0;
        for (int d = 0; d < w.ndim - 1; ++d) {
            int64_t index = position[d] * w.stride[d] + offset[d];
            if (index < 0 || index >= w.image[d]) {
                return -1;
            }
            row = row * w.image[d] + index;
        }
        return row;
    }

    // Columns [begin, begin + length) of one row, in the lanes from `lane` on
    CHAINERX_INLINE Run MakeRun(const Window& w, int64_t begin, int64_t length, int64_t lane, int64_t row,
                                int64_t offset) const {
        int64_t size = w.image[w.ndim - 1];
        if (row < 0) {
            return Run{0, 0};
        }
        // Columns c with 0 <= c * step + offset < size
        int64_t from = begin;
        int64_t to = begin + length;
        if (from * step_ + offset < 0) {
            from = step_ == 1 ? -offset : (-offset + step_ - 1) / step_;
        }
        if ((to - 1) * step_ + offset >= size) {
            to = size <= offset ? 0 : (step_ == 1 ? size - offset : (size - offset + step_ - 1) / step_);
        }
        if (from >= to) {
            return Run{0, 0};
        }
        int64_t first_lane = lane + from - begin;
        auto lanes = static_cast<uint32_t>(((uint64_t{1} << (to - from)) - 1) << first_lane);
        return Run{row * size + from * step_ + offset - first_lane * step_, lanes};
    }

    int64_t step_;
    int64_t taps_;
    int64_t rows_;
    Run* runs_;  // (taps, rows_)
};

}  // namespace chainerx::native::CHAINERX_ISA
