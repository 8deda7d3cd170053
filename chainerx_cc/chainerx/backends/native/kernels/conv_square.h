#pragma once

// Depthwise convolution with windows of 3 x 3 neighbours that move by one or two elements, as in MobileNets. Tiles of a
// few rows and one vector of columns read the image as it is: a row that several outputs see is read once, and elements
// outside of the image are masked. For *_isa.cc sources only.

#include <cstdint>
#include <limits>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv_gemm.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native::CHAINERX_ISA {

template <class T>
class SquareWindows {
public:
    SquareWindows(const Problem<T>& p, int64_t groups, int64_t w_group)
        : p_{p},
          groups_{groups},
          w_group_{p.packed != nullptr ? PackedLayout<T>{1, 1, kTaps}.Size() : w_group},
          height_{p.window.image[0]},
          width_{p.window.image[1]},
          rows_{p.window.columns[0]},
          columns_{p.window.columns[1]},
          vectors_{(columns_ + kSize - 1) / kSize},
          places_{vectors_},
          zeros_{width_ + kSize} {
        for (int64_t i = 0; i < width_ + kSize; ++i) zeros_.data()[i] = T{0};
        for (int64_t v = 0; v < vectors_; ++v) places_.data()[v] = PlaceOf(v);
        while (first_inside_ < vectors_ && !places_.data()[first_inside_].is_inside) ++first_inside_;
        last_inside_ = first_inside_;
        while (last_inside_ < vectors_ && places_.data()[last_inside_].is_inside) ++last_inside_;
    }

    // Where loads of vectors take masks, and two halves make a vector.
    static constexpr bool kIsCompiled = CHAINERX_SIMD_BYTES == 32;

    static bool Fits(const Problem<T>& p, int64_t groups) {
        const Window& w = p.window;
        bool fits = groups > 1 && p.filters.rows == 1 && p.filters.channels == 1 && w.ndim == 2 && w.taps == kTaps &&
                    w.stride[0] == w.stride[1] && w.stride[0] <= 2;
        for (int64_t t = 0; fits && t < kTaps; ++t) {
            fits = w.offsets[t * 2] == w.offsets[0] + t / 3 && w.offsets[t * 2 + 1] == w.offsets[1] + t % 3;
        }
        return fits;
    }

    void Multiply() const {
        int64_t bands = (rows_ * columns_ + kBand - 1) / kBand;
        bands = bands < rows_ ? bands : rows_;
        int64_t work = kTaps * rows_ * columns_ / bands;
        ParallelFor(p_.batch * groups_ * bands, 1 + (int64_t{1} << 16) / (work + 1), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                int64_t plane = i / bands;
                int64_t band = i % bands;
                Plane place = PlaneOf(plane / groups_, plane % groups_);
                if (p_.window.stride[0] == 1) {
                    MultiplyRows<1>(place, rows_ * band / bands, rows_ * (band + 1) / bands);
                } else {
                    MultiplyRows<2>(place, rows_ * band / bands, rows_ * (band + 1) / bands);
                }
            }
        });
    }

private:
    static constexpr int kSize = Simd<T>::kSize;
    static constexpr int kTaps = 9;
    static constexpr int kTileRows = 4;        // with the weights, they take most registers
    static constexpr int64_t kBand = 1 << 14;  // outputs that a thread computes at a time
    static constexpr int kMostLoads = 4;

    // A vector of outputs
    struct Place {
        int64_t column;
        bool is_inside;              // with all that its windows see
        uint32_t lanes[kMostLoads];  // of the loads of a row that are inside
    };

    // A channel of an image
    struct Plane {
        const T* x;
        const T* addend;
        T* y;
        T bias;
        T least;  // limits
        T most;
        T weights[kTaps];
    };

    // Of outputs, with the rows of the image that their windows see
    template <int kStep, int kRows>
    struct Rows {
        static constexpr int kSeen = (kRows - 1) * kStep + 3;
        const T* seen[kSeen];
        const T* next;  // the rows of the image after them
        int64_t at;     // in the plane of y
        int64_t end;    // of what the thread writes there
    };

    // How vectors of a row differ from whole ones that lie inside of the image with what their windows see: loads are
    // masked, and there may be just one that is not whole.
    enum class Edge { kNone, kMasked, kShort };

    // Elements from the first one that a vector's windows see in a row to each load of it
    template <int kStep>
    static constexpr int Offset(int load) {
        return kStep == 1 ? load : load % 2 * kSize + load / 2;
    }
    template <int kStep>
    static constexpr int kLoads = kStep == 1 ? 3 : kMostLoads;

    // The last vector overlaps with the one before it, which spares a partial store.
    Place PlaceOf(int64_t v) const {
        int64_t column = columns_ < (v + 1) * kSize && v > 0 ? columns_ - kSize : v * kSize;
        int64_t stride = p_.window.stride[1];
        Place place{column, columns_ >= kSize, {}};
        for (int load = 0; load < (stride == 1 ? kLoads<1> : kLoads<2>); ++load) {
            int64_t first = column * stride + p_.window.offsets[1] + (stride == 1 ? Offset<1>(load) : Offset<2>(load));
            for (int i = 0; i < kSize; ++i) {
                bool is_inside = first + i >= 0 && first + i < width_;
                place.lanes[load] |= static_cast<uint32_t>(is_inside) << i;
                place.is_inside = place.is_inside && is_inside;
            }
        }
        return place;
    }

    Plane PlaneOf(int64_t image, int64_t group) const {
        int64_t at = image * p_.y_image + group * p_.y_channel;
        Plane plane{p_.x + image * p_.x_image + group * height_ * width_,
                    p_.addend != nullptr ? p_.addend + at : nullptr,
                    p_.y + at,
                    p_.bias != nullptr ? p_.bias[group] : T{0},
                    p_.relu ? p_.least : -std::numeric_limits<T>::infinity(),
                    p_.relu ? p_.most : std::numeric_limits<T>::infinity(),
                    {}};
        for (int t = 0; t < kTaps; ++t) {
            plane.weights[t] = p_.packed != nullptr ? p_.packed[group * w_group_ + t]
                                                    : p_.filters.w[group * w_group_ + p_.filters.tap[t]];
        }
        return plane;
    }

    template <int kStep>
    void MultiplyRows(const Plane& plane, int64_t begin, int64_t end) const {
        for (; end - begin >= kTileRows; begin += kTileRows) Tiles<kStep, kTileRows>(plane, begin, end);
        if (end - begin == 3) {
            Tiles<kStep, 3>(plane, begin, end);
        } else if (end - begin == 2) {
            Tiles<kStep, 2>(plane, begin, end);
        } else if (end - begin == 1) {
            Tiles<kStep, 1>(plane, begin, end);
        }
    }

    // Those of rows [row, row + kRows) of outputs; the thread goes on to the row before `end`.
    template <int kStep, int kRows>
    void Tiles(const Plane& plane, int64_t row, int64_t end) const {
        Rows<kStep, kRows> rows;
        for (int i = 0; i < rows.kSeen; ++i) {
            int64_t from = row * kStep + p_.window.offsets[0] + i;
            rows.seen[i] =
                    (from >= 0 && from < height_ ? plane.x + from * width_ : zeros_.data()) + p_.window.offsets[1];
        }
        rows.next = plane.x + (row * kStep + p_.window.offsets[0] + rows.kSeen) * width_;
        rows.at = row * columns_;
        rows.end = end * columns_;
        if (columns_ < kSize) {
            TilesOf<Edge::kShort>(plane, rows, 0, 1);
            return;
        }
        if (first_inside_ > 0) TilesOf<Edge::kMasked>(plane, rows, 0, first_inside_);
        if (first_inside_ < last_inside_) TilesOf<Edge::kNone>(plane, rows, first_inside_, last_inside_);
        if (last_inside_ < vectors_) TilesOf<Edge::kMasked>(plane, rows, last_inside_, vectors_);
    }

    // Not inlined, so that the weights stay in registers.
    template <Edge kEdge, int kStep, int kRows>
    __attribute__((noinline)) void TilesOf(const Plane& plane, const Rows<kStep, kRows>& rows, int64_t begin,
                                           int64_t end) const {
        Vec<T> w[kTaps];
#pragma GCC unroll 9
        for (int t = 0; t < kTaps; ++t) w[t] = Set(plane.weights[t]);
        Vec<T> bias = Set(plane.bias);
        const Place* places = places_.data();
        int64_t columns = columns_;
        const T* addend = plane.addend;
        T* y = plane.y + rows.at;
        for (int64_t v = begin; v < end; ++v) {
            const Place& place = places[v];
            // What the next tile reads for as many columns
            constexpr int kLine = 64 / sizeof(T);
            constexpr int kLines = kRows * kStep * kStep * kSize / kLine;
#pragma GCC unroll 8
            for (int i = 0; i < kLines; ++i) __builtin_prefetch(rows.next + (v * kLines + i) * kLine);
            Vec<T> sums[kRows];
#pragma GCC unroll 4
            for (int r = 0; r < kRows; ++r) sums[r] = bias;
#pragma GCC unroll 9
            for (int i = 0; i < rows.kSeen; ++i) {
                Vec<T> x[3];
                LoadRow<kStep, kEdge != Edge::kNone>(rows.seen[i] + place.column * kStep, place, x);
#pragma GCC unroll 3
                for (int column = 0; column < 3; ++column) {
#pragma GCC unroll 4
                    for (int r = 0; r < kRows; ++r) {
                        int tap = i - r * kStep;
                        if (tap >= 0 && tap < 3) sums[r] += w[tap * 3 + column] * x[column];
                    }
                }
            }
#pragma GCC unroll 4
            for (int r = 0; r < kRows; ++r) {
                Vec<T> sum = kStep == 1 ? sums[r] : InOrder(sums[r]);
                int64_t at = place.column + r * columns;
                if (addend != nullptr) sum += LoadRowOf<kEdge>(addend + rows.at + at);
                sum = Limit<T>(sum, plane.least, plane.most);
                // The next rows overwrite what goes beyond a short one, where there are such.
                if (kEdge == Edge::kShort && rows.at + at + kSize > rows.end) {
                    StorePartial(y + at, sum, static_cast<int>(columns));
                } else {
                    Store(y + at, sum);
                }
            }
        }
    }

    template <Edge kEdge>
    CHAINERX_INLINE Vec<T> LoadRowOf(const T* from) const {
        return kEdge == Edge::kShort ? LoadPartial(from, static_cast<int>(columns_)) : Load(from);
    }

    // What a vector's windows see in a row: by the three columns of a window.
    template <int kStep, bool kMasks>
    static CHAINERX_INLINE void LoadRow(const T* from, const Place& place, Vec<T> (&x)[3]) {
        Vec<T> loads[kLoads<kStep>];
#pragma GCC unroll 4
        for (int i = 0; i < kLoads<kStep>; ++i) {
            const T* at = from + Offset<kStep>(i);
            loads[i] = kMasks ? LoadMasked(at, place.lanes[i]) : Load(at);
        }
        if constexpr (kStep == 1) {
            for (int i = 0; i < 3; ++i) x[i] = loads[i];
        } else {
            x[0] = EverySecond<0>(loads[0], loads[1]);
            x[1] = EverySecond<1>(loads[0], loads[1]);
            x[2] = EverySecond<1>(loads[2], loads[3]);
        }
    }

    // Lanes kFirst, kFirst + 2, ... of low and high, in such an order that none leaves its half of a vector.
    template <int kFirst>
    static CHAINERX_INLINE Vec<T> EverySecond(Vec<T> low, Vec<T> high) {
        typename LaneMask<T>::V mask{};
#pragma GCC unroll 16
        for (int i = 0; i < kSize; ++i) {
            int half = i / (kSize / 2);
            int lane = i % (kSize / 2);
            bool is_high = lane >= kSize / 4;
            mask[i] = half * (kSize / 2) + (lane - (is_high ? kSize / 4 : 0)) * 2 + kFirst + (is_high ? kSize : 0);
        }
        return Shuffle<T>(low, high, mask);
    }
    // A vector of that order in the one of columns
    static CHAINERX_INLINE Vec<T> InOrder(Vec<T> v) {
        typename LaneMask<T>::V mask{};
#pragma GCC unroll 16
        for (int i = 0; i < kSize; ++i) {
            int quarter = i / (kSize / 4);
            mask[i] = i % (kSize / 4) + (quarter % 2 * 2 + quarter / 2) * (kSize / 4);
        }
        return Shuffle<T>(v, v, mask);
    }

    const Problem<T>& p_;
    int64_t groups_;
    int64_t w_group_;
    int64_t height_;
    int64_t width_;
    int64_t rows_;
    int64_t columns_;
    int64_t vectors_;
    Scratch<Place> places_;
    int64_t first_inside_{0};  // of the vectors that need no masks
    int64_t last_inside_;      // exclusive
    Scratch<T> zeros_;         // a row outside of the image
};

}  // namespace chainerx::native::CHAINERX_ISA
