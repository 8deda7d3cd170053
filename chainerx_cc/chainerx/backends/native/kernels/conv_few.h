#pragma once

// Convolution of groups of few channels, as depthwise ones are, where tiles of a product would be mostly empty. Rows of
// the image are copied with their padding; a stride is taken out by copying every such row and column into a sheet of
// its own. An output is then the sum of weights times elements that lie at one distance each from its place, so that
// vectors of neighbours need no masks. For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv_gemm.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/window_rows.h"

namespace chainerx::native::CHAINERX_ISA {

// One of the last two dimensions of a window.
struct FewAxis {
    // Dimension d of the window; of one element if d < 0.
    FewAxis(const Window& w, int d) {
        if (d < 0) return;
        image = w.image[d];
        columns = w.columns[d];
        stride = w.stride[d];
        low = w.offsets[d];
        int64_t high = low;
        for (int64_t t = 1; t < w.taps; ++t) {
            int64_t offset = w.offsets[t * w.ndim + d];
            low = offset < low ? offset : low;
            high = offset > high ? offset : high;
        }
        extra = (high - low) / stride;
    }

    int64_t image{1};
    int64_t columns{1};
    int64_t stride{1};
    int64_t low{0};    // the smallest offset of a tap
    int64_t extra{0};  // elements of a sheet that the last output sees beyond the first one
};

template <class T>
class FewChannels {
public:
    FewChannels(const Problem<T>& p, int64_t groups, int64_t w_group)
        : p_{p},
          f_{p.filters},
          groups_{groups},
          w_group_{w_group},
          layout_{p.filters.rows, p.filters.channels, p.filters.taps},
          rows_{p.window, p.window.ndim - 2},
          columns_{p.window, p.window.ndim - 1},
          vectors_{(columns_.columns + columns_.extra + Simd<T>::kSize - 1) / Simd<T>::kSize},
          sheets_{p.window.taps},
          lanes_{p.window.taps * vectors_},
          offsets_{p.filters.channels * p.window.taps} {
        int outer = p.window.ndim - 2;
        image_size_ = SpatialSize(p.window.image, p.window.ndim);
        plane_size_ = rows_.columns * columns_.columns;
        planes_ = outer > 0 ? SpatialSize(p.window.columns, outer) : 1;
        // Of whole vectors, so that most of them lie in one line of the cache.
        pitch_ = vectors_ * Simd<T>::kSize;
        for (int64_t t = 0; t < p.window.taps; ++t) {
            Sheet sheet = SheetOf(t);
            int64_t i = 0;
            while (i < sheet_count_ && !IsSame(sheets_.data()[i], sheet)) ++i;
            if (i == sheet_count_) sheets_.data()[sheet_count_++] = sheet;
            offsets_.data()[t] = i;
        }
        // So many rows at a time that copies stay in the first-level cache.
        int64_t most = kBand / (sheet_count_ * f_.channels * pitch_) - rows_.extra;
        most = most < kLeastRows ? kLeastRows : most;
        bands_ = (rows_.columns + most - 1) / most;
        band_ = (rows_.columns + bands_ - 1) / bands_;
        sheet_size_ = (band_ + rows_.extra) * pitch_;
        for (int64_t i = 0; columns_.stride <= 2 && i < sheet_count_ * vectors_; ++i) {
            lanes_.data()[i] = LanesOf(sheets_.data()[i / vectors_], i % vectors_);
        }
        for (int64_t i = f_.channels * p.window.taps; i-- > 0;) {
            int64_t t = i % p.window.taps;
            int64_t at = i / p.window.taps * sheet_count_ + offsets_.data()[t];
            offsets_.data()[i] = at * sheet_size_ + (OffsetOf(rows_, t, 2) * pitch_ + OffsetOf(columns_, t, 1));
        }
        bool is_square = p.window.ndim == 2 && p.window.taps == 9 && f_.channels == 1;
        for (int64_t t = 0; is_square && t < 9; ++t) {
            is_square = ShiftOf(rows_, t, 2) == t / 3 && ShiftOf(columns_, t, 1) == t % 3;
        }
        square_step_ = is_square && rows_.stride == columns_.stride ? rows_.stride : 0;
    }

    static bool Fits(const Problem<T>& p, int64_t groups) {
        return groups > 1 && p.filters.rows <= kFew && p.filters.channels <= kFew;
    }

    void Multiply() {
        int64_t parts = planes_ * bands_;
        int64_t work = f_.rows * f_.channels * f_.taps * band_ * columns_.columns;
        ParallelFor(p_.batch * groups_ * parts, 1 + (int64_t{1} << 17) / (work + 1), [&](int64_t begin, int64_t end) {
            Scratch<T> copy{f_.channels * sheet_count_ * sheet_size_ + 2 * Simd<T>::kSize};
            Scratch<T> weights{f_.channels * f_.taps};
            int64_t band = begin % bands_;
            int64_t plane = begin / bands_ % planes_;
            int64_t group = begin / parts % groups_;
            int64_t image = begin / parts / groups_;
            for (int64_t i = begin; i < end; ++i) {
                Rows rows{band * band_, band * band_ + band_ < rows_.columns ? band * band_ + band_ : rows_.columns};
                Copy(p_.x + image * p_.x_image + group * f_.channels * image_size_, plane, rows, copy.data());
                for (int64_t r = 0; r < f_.rows; ++r) {
                    int64_t m = group * f_.rows + r;
                    const T* w = WeightsOf(group, r, weights.data());
                    int64_t at = image * p_.y_image + m * p_.y_channel + plane * plane_size_;
                    if (square_step_ == 1) {
                        MultiplyRows<1>(copy.data(), w, m, at, rows);
                    } else if (square_step_ == 2) {
                        MultiplyRows<2>(copy.data(), w, m, at, rows);
                    } else {
                        MultiplyRows<0>(copy.data(), w, m, at, rows);
                    }
                }
                // The next place, without divisions
                if (++band < bands_) continue;
                band = 0;
                if (++plane < planes_) continue;
                plane = 0;
                if (++group < groups_) continue;
                group = 0;
                ++image;
            }
        });
    }

private:
    static constexpr int64_t kFew = 2;
    static constexpr int64_t kBand = 24576 / sizeof(T);  // elements of the copies for some rows of outputs
    static constexpr int64_t kLeastRows = 4;
    static constexpr bool kSkipsMasks = CHAINERX_SIMD_BYTES < 64;  // masks cost several instructions
    static constexpr int64_t kAhead = 1024 / sizeof(T);            // elements from a fetch to its use

    // Outputs of one plane, from row `begin` to before `end`.
    struct Rows {
        int64_t begin;
        int64_t end;
    };

    // Those elements of a plane of the image that one or more taps see: every `stride`-th row and column.
    struct Sheet {
        int64_t tap;  // one of those
        int64_t row;
        int64_t column;
        int64_t begin;  // the columns that lie inside of the image
        int64_t end;
    };

    // Of a tap from the lowest one, in a sheet
    int64_t OffsetOf(const FewAxis& axis, int64_t tap, int from_last) const {
        return ShiftOf(axis, tap, from_last) / axis.stride;
    }
    int64_t ShiftOf(const FewAxis& axis, int64_t tap, int from_last) const {
        int d = p_.window.ndim - from_last;
        return d < 0 ? 0 : p_.window.offsets[tap * p_.window.ndim + d] - axis.low;
    }
    Sheet SheetOf(int64_t tap) const {
        Sheet sheet{tap, ShiftOf(rows_, tap, 2) % rows_.stride, ShiftOf(columns_, tap, 1) % columns_.stride, 0, 0};
        InsideRange(columns_.low + sheet.column, columns_.stride, columns_.image, pitch_, &sheet.begin, &sheet.end);
        return sheet;
    }
    bool IsSame(const Sheet& a, const Sheet& b) const {
        bool is_same = a.row == b.row && a.column == b.column;
        for (int d = 0; d < p_.window.ndim - 2; ++d) {
            is_same = is_same &&
                      p_.window.offsets[a.tap * p_.window.ndim + d] == p_.window.offsets[b.tap * p_.window.ndim + d];
        }
        return is_same;
    }

    // The first row of the image that a tap sees from an output of a plane, or -1 outside.
    int64_t FindPlane(int64_t tap, int64_t plane) const {
        const Window& w = p_.window;
        int64_t found = 0;
        int64_t scale = rows_.image;
        for (int d = w.ndim - 3; d >= 0; --d) {
            int64_t index = plane % w.columns[d] * w.stride[d] + w.offsets[tap * w.ndim + d];
            if (index < 0 || index >= w.image[d]) return -1;
            plane /= w.columns[d];
            found += index * scale;
            scale *= w.image[d];
        }
        return found;
    }

    void Copy(const T* x, int64_t plane, const Rows& rows, T* to) const {
        if (columns_.stride == 1) {
            CopySheets<1>(x, plane, rows, to);
        } else if (columns_.stride == 2) {
            CopySheets<2>(x, plane, rows, to);
        } else {
            CopySheets<0>(x, plane, rows, to);
        }
    }

    // kStep: the stride of columns, or 0 for any.
    template <int kStep>
    void CopySheets(const T* x, int64_t plane, const Rows& rows, T* to) const {
        int64_t count = rows.end - rows.begin + rows_.extra;
        for (int64_t c = 0; c < f_.channels; ++c, x += image_size_) {
            for (int64_t s = 0; s < sheet_count_; ++s, to += sheet_size_) {
                const Sheet& sheet = sheets_.data()[s];
                int64_t first = FindPlane(sheet.tap, plane);
                int64_t row = rows.begin * rows_.stride + rows_.low + sheet.row;
                // Those before the image, inside, and behind it
                T* out = to;
                T* end = to + count * pitch_;
                for (; out < end && (row < 0 || first < 0); row += rows_.stride) out = ClearRow(out);
                const T* from = x + (first + row) * columns_.image + columns_.low + sheet.column;
                int64_t step = rows_.stride * columns_.image;
                for (; out < end && row < rows_.image; row += rows_.stride, from += step) {
                    out = CopyRow<kStep>(from, sheet, lanes_.data() + s * vectors_, out);
                }
                while (out < end) out = ClearRow(out);
            }
        }
    }

    // These give where the next row of a sheet begins.
    CHAINERX_INLINE T* ClearRow(T* to) const {
        for (int64_t v = 0; v < vectors_; ++v, to += Simd<T>::kSize) Store(to, Vec<T>{});
        return to;
    }
    template <int kStep>
    CHAINERX_INLINE T* CopyRow(const T* from, const Sheet& sheet, const uint64_t* lanes, T* to) const {
        constexpr int kSize = Simd<T>::kSize;
        if constexpr (kStep == 0) {
            for (int64_t i = 0; i < pitch_; ++i) {
                to[i] = i >= sheet.begin && i < sheet.end ? from[i * columns_.stride] : T{0};
            }
            return to + pitch_;
        } else {
            constexpr uint64_t kAll = kStep == 2 ? ((uint64_t{1} << 2 * kSize) - 1) / 3 : (uint64_t{1} << kSize) - 1;
            for (int64_t v = 0; v < vectors_; ++v, from += kStep * kSize, to += kSize) {
                if constexpr (kSkipsMasks) __builtin_prefetch(from + kAhead);
                Vec<T> x;
                if (kSkipsMasks && lanes[v] == kAll) {
                    x = Load(from);
                    // The second vector begins one element earlier: the one after its last may lie behind the image.
                    if constexpr (kStep == 2) x = EvenThenOdd<T>(x, Load(from + kSize - 1));
                } else {
                    auto low = static_cast<uint32_t>(lanes[v] & ((uint64_t{1} << kSize) - 1));
                    x = LoadMasked(from, low);
                    if constexpr (kStep == 2) x = EvenLanes<T>(x, LoadMasked(from + kSize, lanes[v] >> kSize));
                }
                Store(to, x);
            }
            return to;
        }
    }

    // The elements of two vectors, `stride` apart from the first one on, that are lanes of vector v of a sheet.
    uint64_t LanesOf(const Sheet& sheet, int64_t v) const {
        int64_t first = v * Simd<T>::kSize;
        uint64_t lanes = 0;
        for (int64_t i = 0; i < Simd<T>::kSize; ++i) {
            bool is_inside = first + i >= sheet.begin && first + i < sheet.end;
            if (is_inside) lanes |= uint64_t{1} << (i * columns_.stride);
        }
        return lanes;
    }

    // Those of a row for (channel, tap): as they are, or copied to `to`.
    const T* WeightsOf(int64_t group, int64_t row, T* to) const {
        T* out = to;
        if (p_.packed != nullptr) {
            const T* w = p_.packed + group * layout_.Size();
            if (f_.rows * f_.channels == 1) return w;
            for (int64_t block = 0; block < layout_.blocks(); ++block) {
                const T* from = w + layout_.Panel(block, 0) + row;
                for (int64_t i = 0; i < layout_.Channels(block) * f_.taps; ++i) *out++ = from[i * f_.rows];
            }
            return to;
        }
        const T* w = f_.w + group * w_group_ + row * f_.row;
        for (int64_t c = 0; c < f_.channels; ++c) {
            for (int64_t t = 0; t < f_.taps; ++t) *out++ = w[c * f_.channel + f_.tap[t]];
        }
        return to;
    }

    // Output channel m, whose plane is at `at` of y. kStep: see AddSquare; or 0.
    template <int kStep>
    void MultiplyRows(const T* copy, const T* weights, int64_t m, int64_t at, const Rows& rows) const {
        constexpr int kSize = Simd<T>::kSize;
        for (int64_t column = 0; column < columns_.columns;) {
            int64_t left = columns_.columns - column;
            Place place{copy + column, weights, m, at + rows.begin * columns_.columns + column,
                        static_cast<int>(left < 2 * kSize ? left : 2 * kSize)};
            int64_t row = rows.end - rows.begin;
            if (left > kSize) {
                row = Tiles<kStep, 4, 2>(row, &place);
                row = Tiles<kStep, 2, 2>(row, &place);
                Tiles<kStep, 1, 2>(row, &place);
                column += 2 * kSize;
            } else {
                if (row % 7 == 0) row = Tiles<kStep, 7, 1>(row, &place);  // as the images of many networks
                row = Tiles<kStep, 8, 1>(row, &place);
                row = Tiles<kStep, 4, 1>(row, &place);
                row = Tiles<kStep, 2, 1>(row, &place);
                Tiles<kStep, 1, 1>(row, &place);
                column += kSize;
            }
        }
    }

    struct Place {
        const T* copy;
        const T* weights;
        int64_t m;
        int64_t y;  // of y and of what is added
        int lanes;
    };

    // As many tiles as fit into some rows; returns the number of rows that are left.
    template <int kStep, int kRows, int kVectors>
    int64_t Tiles(int64_t rows, Place* place) const {
        for (; rows >= kRows; rows -= kRows) {
            Tile<kStep, kRows, kVectors>(*place);
            place->copy += kRows * pitch_;
            place->y += kRows * columns_.columns;
        }
        return rows;
    }

    template <int kRows, int kVectors>
    CHAINERX_INLINE void AddTaps(const Place& place, Vec<T> (&sums)[kRows][kVectors]) const {
        int64_t pitch = pitch_;
        for (int64_t i = 0; i < f_.channels * f_.taps; ++i) {
            Vec<T> w = Set(place.weights[i]);
            const T* from = place.copy + offsets_.data()[i];
#pragma GCC unroll 8
            for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
                for (int v = 0; v < kVectors; ++v) sums[r][v] += w * Load(from + r * pitch + v * Simd<T>::kSize);
            }
        }
    }

    // The same for windows of 3 x 3 neighbours, moved by kStep rows: one read of a vector serves all outputs that see
    // it. Sums have the same order.
    template <int kStep, int kRows, int kVectors>
    CHAINERX_INLINE void AddSquare(const Place& place, Vec<T> (&sums)[kRows][kVectors]) const {
        int64_t pitch = pitch_;
        int64_t sheet_size = sheet_size_;
        const T* from = place.copy;
        Vec<T> w[9];
#pragma GCC unroll 9
        for (int t = 0; t < 9; ++t) w[t] = Set(place.weights[t]);
#pragma GCC unroll 20
        for (int row = 0; row < (kRows - 1) * kStep + 3; ++row) {
#pragma GCC unroll 3
            for (int column = 0; column < 3; ++column) {
                int sheet = row % kStep * kStep + column % kStep;
                const T* in_sheet = from + sheet * sheet_size + row / kStep * pitch + column / kStep;
#pragma GCC unroll 2
                for (int v = 0; v < kVectors; ++v) {
                    Vec<T> x = Load(in_sheet + v * Simd<T>::kSize);
#pragma GCC unroll 8
                    for (int r = 0; r < kRows; ++r) {
                        int tap = row - r * kStep;
                        if (tap >= 0 && tap < 3) sums[r][v] += w[tap * 3 + column] * x;
                    }
                }
            }
        }
    }

    template <int kStep, int kRows, int kVectors>
    CHAINERX_INLINE void Tile(const Place& place) const {
        constexpr int kSize = Simd<T>::kSize;
        Vec<T> bias = p_.bias != nullptr ? Set(p_.bias[place.m]) : Vec<T>{};
        Vec<T> sums[kRows][kVectors];
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) sums[r][v] = bias;
        }
        if constexpr (kStep > 0) {
            AddSquare<kStep, kRows, kVectors>(place, sums);
        } else {
            AddTaps<kRows, kVectors>(place, sums);
        }
        int last = place.lanes - (kVectors - 1) * kSize;
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) {
                int64_t at = place.y + r * columns_.columns + v * kSize;
                bool is_whole = v + 1 < kVectors || last == kSize;
                Vec<T> value = sums[r][v];
                if (p_.addend != nullptr) {
                    value += is_whole ? Load(p_.addend + at) : LoadPartial(p_.addend + at, last);
                }
                value = p_.relu ? Limit<T>(value, p_.least, p_.most) : value;
                if (is_whole) {
                    Store(p_.y + at, value);
                } else {
                    StorePartial(p_.y + at, value, last);
                }
            }
        }
    }

    const Problem<T>& p_;
    const Filters<T>& f_;
    int64_t groups_;
    int64_t w_group_;
    PackedLayout<T> layout_;  // of packed weights
    FewAxis rows_;
    FewAxis columns_;
    int64_t vectors_;  // of a row of a sheet
    Scratch<Sheet> sheets_;
    Scratch<uint64_t> lanes_;   // (sheet, vector)
    Scratch<int64_t> offsets_;  // of (channel, tap) from the place of an output in the copy
    int64_t sheet_count_{0};
    int64_t sheet_size_;
    int64_t image_size_;
    int64_t plane_size_;
    int64_t planes_;  // the product of the other columns
    int64_t pitch_;   // of rows of sheets
    int64_t bands_;
    int64_t band_;         // the most rows of one
    int64_t square_step_;  // the stride of rows if a window is of 3 x 3 neighbours; or 0
};

}  // namespace chainerx::native::CHAINERX_ISA
