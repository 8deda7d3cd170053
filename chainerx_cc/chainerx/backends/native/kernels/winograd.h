#pragma once

// Winograd's minimal filtering for windows of 3x3 with stride 1: F(4x4, 3x3) for outputs, F(3x3, 4x4) for the gradient
// of the weights. A tile of 4x4 outputs takes 36 products of each pair of channels instead of 144:
//
//   y = A' (sum over channels of (G w G') * (B' x B)) A      (* is elementwise, ' transposes)
//
// for 6x6 elements x of the image. The points are 0, +-3/4, +-3/2 and infinity; with the usual 0, +-1, +-2, errors are
// twice as large. For *_isa.cc sources only.
//
// See Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016; Barabasz et al., Error analysis and
// improving the accuracy of Winograd convolution for deep neural networks, ACM TOMS 2020.

#include <cstdint>

#include "chainerx/backends/native/kernels/conv_window.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {

constexpr int kWinogradProducts = 36;

// The transformations along one axis. V is a vector of T.

template <class V>
CHAINERX_INLINE void TransformImage(const V (&x)[6], V (&out)[6]) {
    V even1 = x[4] - x[2] * 2.25F;
    V odd1 = x[3] - x[1] * 2.25F;
    V even2 = x[4] - x[2] * 0.5625F;
    V odd2 = x[3] - x[1] * 0.5625F;
    out[0] = x[0] * 1.265625F - x[2] * 2.8125F + x[4];
    out[1] = even1 + odd1 * 0.75F;
    out[2] = even1 - odd1 * 0.75F;
    out[3] = even2 + odd2 * 1.5F;
    out[4] = even2 - odd2 * 1.5F;
    out[5] = x[1] * 1.265625F - x[3] * 2.8125F + x[5];
}

// G for three weights, or for four gradients of outputs.
template <class T, int kSize, class V>
CHAINERX_INLINE void TransformFilter(const V (&w)[kSize], V (&out)[6]) {
    constexpr T kPoint1 = T{1} / T{-1.8984375};  // 1 / (2 a^2 (a^2 - b^2)) for a = 3/4, b = 3/2
    constexpr T kPoint2 = T{1} / T{7.59375};     // 1 / (2 b^2 (b^2 - a^2))
    V even1 = w[0] + w[2] * 0.5625F;
    V even2 = w[0] + w[2] * 2.25F;
    V odd1 = w[1] * 0.75F;
    V odd2 = w[1] * 1.5F;
    if constexpr (kSize == 4) {
        odd1 += w[3] * 0.421875F;
        odd2 += w[3] * 3.375F;
    }
    out[0] = w[0] * (T{1} / T{1.265625});
    out[1] = (even1 + odd1) * kPoint1;
    out[2] = (even1 - odd1) * kPoint1;
    out[3] = (even2 + odd2) * kPoint2;
    out[4] = (even2 - odd2) * kPoint2;
    out[5] = w[kSize - 1];
}

// A' for four outputs, or for three gradients of weights.
template <int kSize, class V>
CHAINERX_INLINE void TransformOutput(const V (&m)[6], V (&out)[kSize]) {
    V sum1 = m[1] + m[2];
    V sum2 = m[3] + m[4];
    V difference1 = m[1] - m[2];
    V difference2 = m[3] - m[4];
    out[0] = m[0] + sum1 + sum2;
    out[1] = difference1 * 0.75F + difference2 * 1.5F;
    out[2] = sum1 * 0.5625F + sum2 * 2.25F;
    if constexpr (kSize == 4) {
        out[3] = difference1 * 0.421875F + difference2 * 3.375F;
    }
    out[kSize - 1] += m[5];
}

// Transforms both axes of kIn x kIn vectors in `in` by `axis`, to kOut x kOut vectors.
template <int kIn, int kOut, class V, class Axis>
CHAINERX_INLINE void TransformBoth(const V (&in)[kIn][kIn], V (&out)[kOut][kOut], Axis axis) {
    V half[kOut][kIn];
#pragma GCC unroll 6
    for (int j = 0; j < kIn; ++j) {
        V column[kIn];
        V sums[kOut];
#pragma GCC unroll 6
        for (int i = 0; i < kIn; ++i) {
            column[i] = in[i][j];
        }
        axis(column, sums);
#pragma GCC unroll 6
        for (int i = 0; i < kOut; ++i) {
            half[i][j] = sums[i];
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < kOut; ++i) {
        axis(half[i], out[i]);
    }
}

// Tiles side by side in an image
struct TileSpan {
    int64_t image;
    int64_t y;  // of the first element of the outputs
    int64_t x;
    int lane;  // of the first tile
    int count;
};

// The outputs of all images of a batch, cut into tiles of 4x4, of which those at the end of an axis reach beyond it.
class WinogradTiles {
public:
    WinogradTiles(const Window& window, int64_t batch)
        : height_{window.columns[0]},
          width_{window.columns[1]},
          per_column_{(height_ + 3) / 4},
          per_row_{(width_ + 3) / 4},
          count_{batch * per_column_ * per_row_} {}

    // Whether windows have 3x3 elements and stride 1, and there are so many outputs and channels that transformations
    // take less time than they save.
    static bool Fits(const Window& w, int64_t batch, int64_t rows, int64_t channels) {
        if (w.ndim != 2 || w.taps != 9 || w.stride[0] != 1 || w.stride[1] != 1 || rows < 32 || channels < 32) {
            return false;
        }
        for (int t = 0; t < 9; ++t) {
            if (w.offsets[2 * t] != w.offsets[0] + t / 3 || w.offsets[2 * t + 1] != w.offsets[1] + t % 3) {
                return false;
            }
        }
        int64_t outputs = batch * w.columns[0] * w.columns[1];
        return outputs >= 256 && outputs * 2 >= WinogradTiles{w, batch}.count() * 16;
    }

    int64_t height() const { return height_; }
    int64_t width() const { return width_; }
    int64_t count() const { return count_; }

    // Calls visit(span) for tiles `first` to `first` + `count`.
    template <class Visit>
    CHAINERX_INLINE void VisitSpans(int64_t first, int count, Visit visit) const {
        for (int lane = 0; lane < count;) {
            int64_t tile = first + lane;
            int64_t left = per_row_ - tile % per_row_;
            TileSpan span{tile / per_row_ / per_column_, tile / per_row_ % per_column_ * 4, tile % per_row_ * 4, lane,
                          static_cast<int>(left < count - lane ? left : count - lane)};
            visit(span);
            lane += span.count;
        }
    }

private:
    int64_t height_;
    int64_t width_;
    int64_t per_column_;
    int64_t per_row_;
    int64_t count_;
};

// An image for each of the channels, of which tiles read elements; those outside are zero.
template <class T>
struct TileSource {
    const T* data;
    int64_t image;  // distance of images
    int64_t height;
    int64_t width;
    int64_t y;  // of the first element of the first tile
    int64_t x;
};

// Reads kSize x kSize elements of each of `count` <= kTileColumns tiles, 4 apart, transforms them by `axis` along both
// axes, and writes them as [product][channel][tile], with `step` elements from product to product and `pitch` from
// channel to channel. Writes whole vectors of tiles.
template <class T, int kSize, class Axis>
void TransformTiles(const WinogradTiles& tiles, const TileSource<T>& source, int64_t channels, int64_t first, int count,
                    T* out, int64_t step, int64_t pitch, Axis axis) {
    constexpr int kLanes = Simd<T>::kSize;
    constexpr int kLine = static_cast<int>(64 / sizeof(T));
    int64_t channel_size = source.height * source.width;
    T elements[kSize][kSize][kTileColumns<T>] = {};
    for (int64_t c = 0; c < channels; ++c, out += pitch) {
        tiles.VisitSpans(first, count, [&](const TileSpan& span) {
            int64_t y = source.y + span.y;
            int64_t x = source.x + span.x;
            int needed = span.count * 4 + kSize - 4;
            int begin = static_cast<int>(x < 0 ? -x : 0);
            int end = static_cast<int>(source.width - x < needed ? source.width - x : needed);
            const T* from = source.data + span.image * source.image + c * channel_size + y * source.width + x;
            for (int i = 0; i < kSize; ++i, from += source.width) {
                T row[4 * kTileColumns<T> + kSize - 4];
                if (y + i < 0 || y + i >= source.height) {
                    for (int k = 0; k < needed; ++k) row[k] = T{0};
                } else {
                    for (int k = begin; k < end; k += kLine) {
                        __builtin_prefetch(from + 2 * channel_size + k);
                    }
                    for (int k = 0; k < begin; ++k) row[k] = T{0};
                    for (int k = begin; k < end; ++k) row[k] = from[k];
                    for (int k = end; k < needed; ++k) row[k] = T{0};
                }
                for (int t = 0; t < span.count; ++t) {
                    for (int j = 0; j < 4; ++j) elements[i][j][span.lane + t] = row[4 * t + j];
                }
                for (int j = 4; j < kSize; ++j) {
                    for (int t = 0; t < span.count; ++t) elements[i][j][span.lane + t] = row[4 * t + j];
                }
            }
        });
        for (int v = 0; v < count; v += kLanes) {
            Vec<T> in[kSize][kSize];
            Vec<T> products[6][6];
            for (int i = 0; i < kSize; ++i) {
                for (int j = 0; j < kSize; ++j) in[i][j] = Load(elements[i][j] + v);
            }
            TransformBoth(in, products, axis);
            for (int i = 0; i < 6; ++i) {
                for (int j = 0; j < 6; ++j) Store(out + (i * 6 + j) * step + v, products[i][j]);
            }
        }
    }
}

// Elements that keep parts of memory apart in the cache, where distances of powers of two share few lines
template <class T>
constexpr int64_t kWinogradPadding = static_cast<int64_t>(64 / sizeof(T));

}  // namespace chainerx::native::CHAINERX_ISA
