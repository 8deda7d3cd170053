#pragma once

// Convolution without an im2col matrix: rows of the image are copied once, with their padding, and every tap reads them
// at its own offset. Where columns of a row move by two elements, the copy of a row is its even ones and then its odd
// ones. For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv_window.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {

// A is a packed panel. Vector v of B for (channel, tap) lies at b[v] + channel * plane + offsets[tap].
template <class T>
struct SlidingTile {
    template <int kRows, int kVectors>
    static void Run(int64_t channels, int64_t taps, const T* a, const T* const* b, int64_t plane,
                    const int64_t* offsets, const TileOutput<T>& out) {
        PrefetchTile<T, kRows, kVectors>(out);
        Vec<T> acc[kRows][kVectors] = {};
        const T* base[kVectors];
        for (int v = 0; v < kVectors; ++v) {
            base[v] = b[v];
        }
        for (int64_t c = 0; c < channels; ++c) {
            for (int64_t t = 0; t < taps; ++t, a += kRows) {
                Vec<T> bv[kVectors];
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) {
                    bv[v] = Load(base[v] + offsets[t]);
                }
                AddProducts<T, kRows, kVectors>(a, 1, bv, acc);
            }
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                base[v] += plane;
            }
        }
        StoreTile<T, kRows, kVectors>(out, acc);
    }
};

// The rows that a range of columns of a two-dimensional window sees, copied for some channels. Columns of a row move by
// kStep elements.
template <class T, int kStep>
class SlidingRows {
public:
    explicit SlidingRows(const Window& window) : window_(window), offsets_{window.taps} {
        for (int d = 0; d < 2; ++d) {
            low_[d] = high_[d] = window.offsets[d];
            for (int64_t t = 1; t < window.taps; ++t) {
                int64_t offset = window.offsets[t * 2 + d];
                low_[d] = offset < low_[d] ? offset : low_[d];
                high_[d] = offset > high_[d] ? offset : high_[d];
            }
        }
        width_ = (window.columns[1] - 1) * kStep + 1 + high_[1] - low_[1];
        part_ = kStep == 1 ? width_ : (width_ + kStep * kSize - 1) / (kStep * kSize) * kSize;
        for (int64_t t = 0; t < window.taps; ++t) {
            int64_t column = window.offsets[t * 2 + 1] - low_[1];
            offsets_.data()[t] = (window.offsets[t * 2] - low_[0]) * pitch() + column % kStep * part_ + column / kStep;
        }
    }

    // Rows of the copy for rows [begin, end) of columns
    int64_t CountRows(int64_t begin, int64_t end) const {
        return (end - begin - 1) * window_.stride[0] + 1 + high_[0] - low_[0];
    }
    // Distances of rows of the copy, and of those of neighbouring columns
    int64_t pitch() const { return kStep * part_; }
    int64_t column_pitch() const { return window_.stride[0] * pitch(); }
    const int64_t* offsets() const { return offsets_.data(); }

    // Copies what rows [begin, end) of columns see. Writes up to kSize elements too much.
    void Copy(const T* image, int64_t begin, int64_t end, T* to) const {
        int64_t row = begin * window_.stride[0] + low_[0];
        if constexpr (kStep == 1) {
            for (int64_t last = row + CountRows(begin, end); row < last; ++row, to += pitch()) {
                CopyRow(image, row, to);
            }
        } else {
            Scratch<T> line{width_ + 3 * kSize};  // with room for what loads below read too much
            for (int64_t last = row + CountRows(begin, end); row < last; ++row, to += pitch()) {
                CopyRow(image, row, line.data());
                Split(line.data(), to);
            }
        }
    }

private:
    static constexpr int kSize = Simd<T>::kSize;

    // The row with its padding. Writes up to kSize elements too much.
    CHAINERX_INLINE void CopyRow(const T* image, int64_t row, T* to) const {
        int64_t size = window_.image[1];
        int64_t first = low_[1] < 0 ? -low_[1] : 0;  // of the elements inside of the image
        int64_t last = size - low_[1] < width_ ? size - low_[1] : width_;
        first = first < last ? first : last;
        bool inside = row >= 0 && row < window_.image[0];
        int64_t i = 0;
        for (int64_t stop = inside ? first : width_; i < stop; ++i) {
            to[i] = T{0};
        }
        if (!inside) {
            return;
        }
        const T* from = image + row * size + low_[1];
        for (; i + kSize <= last; i += kSize) {
            Store(to + i, Load(from + i));
        }
        if (i < last) {
            Store(to + i, LoadPartial(from + i, static_cast<int>(last - i)));
        }
        for (i = last > 0 ? last : 0; i < width_; ++i) {
            to[i] = T{0};
        }
    }

    // Even elements of a row, and then odd ones
    CHAINERX_INLINE void Split(const T* line, T* to) const {
        for (int64_t i = 0; i < part_; i += kSize, line += 2 * kSize) {
            Store(to + i, EvenLanes<T>(Load(line), Load(line + kSize)));
            Store(to + part_ + i, EvenLanes<T>(Load(line + 1), Load(line + kSize + 1)));
        }
    }

    const Window& window_;
    int64_t low_[2];
    int64_t high_[2];
    int64_t width_;  // elements of a row that some column sees
    int64_t part_;   // those that are kStep apart, of which there are kStep copies
    Scratch<int64_t> offsets_;
};

// Every vector of columns must lie in one row.
template <class T>
bool FitsSliding(const Window& window) {
    return window.ndim == 2 && window.stride[0] <= 2 && window.stride[1] <= 2 && window.taps > 1 &&
           window.columns[1] % Simd<T>::kSize == 0;
}

}  // namespace chainerx::native::CHAINERX_ISA
