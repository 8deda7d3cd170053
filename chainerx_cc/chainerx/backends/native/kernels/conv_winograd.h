#pragma once

// Convolution by Winograd's algorithm (winograd.h). For *_isa.cc sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/conv_gemm.h"
#include "chainerx/backends/native/kernels/winograd.h"

namespace chainerx::native::CHAINERX_ISA {

template <class T>
class Winograd {
public:
    explicit Winograd(const Problem<T>& p)
        : p_{p},
          tiles_{p.window, p.batch},
          rows_{p.filters.rows},
          channels_{p.filters.channels},
          panel_rows_{PanelRows(rows_)},
          panels_{(rows_ + panel_rows_ - 1) / panel_rows_},
          blocks_{(tiles_.count() + kTileColumns<T> - 1) / kTileColumns<T>},
          filter_step_{(blocks_ > 1 ? panels_ : 1) * PanelSize() + kWinogradPadding<T>},
          column_step_{channels_ * kTileColumns<T> + kWinogradPadding<T>} {}

    static bool Fits(const Problem<T>& p) {
        return p.packed == nullptr && p.addend == nullptr && !p.relu &&
               WinogradTiles::Fits(p.window, p.batch, p.filters.rows, p.filters.channels);
    }

    void Multiply() {
        // All at once if several blocks use them, or else a panel at a time, which stays in the cache.
        bool packs_all = blocks_ > 1;
        Scratch<T> all{packs_all ? kWinogradProducts * filter_step_ : 0};
        if (packs_all) PackFilters(all.data());
        int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
        // Blocks of about equal size; if there are few, also parts of the rows, for each of which columns are packed.
        int64_t parts = blocks_ < wanted ? (wanted + blocks_ - 1) / blocks_ : 1;
        parts = parts < panels_ ? parts : panels_;
        const Window& w = p_.window;
        TileSource<T> source{p_.x, p_.x_image, w.image[0], w.image[1], w.offsets[0], w.offsets[1]};
        ParallelFor(blocks_ * parts, 1, [&](int64_t begin, int64_t end) {
            Scratch<T> columns{kWinogradProducts * column_step_};
            Scratch<T> products{kWinogradProducts * ProductSize()};
            Scratch<T> one{packs_all ? 0 : kWinogradProducts * filter_step_};
            for (int64_t i = begin; i < end; ++i) {
                int64_t block = i / parts;
                int64_t part = i % parts;
                int64_t first = tiles_.count() * block / blocks_;
                int count = static_cast<int>(tiles_.count() * (block + 1) / blocks_ - first);
                if (i == begin || part == 0) {
                    TransformTiles<T, 6>(
                            tiles_, source, channels_, first, count, columns.data(), column_step_, kTileColumns<T>,
                            [](const auto& x, auto& out) __attribute__((always_inline)) { TransformImage(x, out); });
                }
                for (int64_t panel = panels_ * part / parts; panel < panels_ * (part + 1) / parts; ++panel) {
                    if (!packs_all) PackPanel(panel, one.data());
                    const T* filters = packs_all ? all.data() + panel * PanelSize() : one.data();
                    MultiplyPanel(panel, first, count, filters, columns.data(), products.data());
                }
            }
        });
    }

private:
    static constexpr int64_t kChannels = 128;  // of one sum: longer ones round more
    // Lanes of the vectors of rows that are transformed together: a power of two
    static constexpr int kRowLanes = kTileRows > 8 ? 16 : kTileRows > 4 ? 8 : 4;

    int64_t PanelSize() const { return panel_rows_ * channels_; }
    int64_t ProductSize() const { return panel_rows_ * kTileColumns<T>; }
    int64_t Rows(int64_t panel) const {
        int64_t left = rows_ - panel * panel_rows_;
        return left < panel_rows_ ? left : panel_rows_;
    }

    // [product][panel][channel][row]
    void PackFilters(T* out) const {
        ParallelFor(panels_, 1 + 4096 / PanelSize(), [&](int64_t begin, int64_t end) {
            for (int64_t panel = begin; panel < end; ++panel) PackPanel(panel, out + panel * PanelSize());
        });
    }

    // [product][channel][row]
    void PackPanel(int64_t panel, T* out) const {
        if (Rows(panel) == kRowLanes) {
            TransformRows<kRowLanes>(panel, out);
        } else {
            TransformRows<0>(panel, out);
        }
    }

    // `kRows`: the number of rows, or 0 for any. Where all lanes are rows, copies of lanes are fast.
    template <int kRows>
    void TransformRows(int64_t panel, T* out) const {
        typedef T RowVector __attribute__((vector_size(kRowLanes * sizeof(T))));
        int64_t rows = kRows > 0 ? kRows : Rows(panel);
        const Filters<T>& f = p_.filters;
        const T* w = f.w + panel * panel_rows_ * f.row;
        for (int64_t c = 0; c < channels_; ++c, w += f.channel, out += rows) {
            for (int i = 0; i < 9 * kRowLanes; i += static_cast<int>(64 / sizeof(T))) {
                __builtin_prefetch(w + kAheadColumns * f.channel + i);
            }
            RowVector taps[3][3];
            RowVector products[6][6];
            for (int t = 0; t < 9; ++t) {
                T lanes[kRowLanes] = {};
                for (int64_t r = 0; r < rows; ++r) lanes[r] = w[r * f.row + f.tap[t]];
                __builtin_memcpy(&taps[t / 3][t % 3], lanes, sizeof(lanes));
            }
            TransformBoth(
                    taps, products,
                    [](const auto& x, auto& out) __attribute__((always_inline)) { TransformFilter<T>(x, out); });
            for (int e = 0; e < kWinogradProducts; ++e) {
                __builtin_memcpy(out + e * filter_step_, &products[e / 6][e % 6], rows * sizeof(T));
            }
        }
    }

    // Multiplies a panel of filters with columns, [product][channel][tile], to products, [product][row][tile]; writes
    // tiles of y.
    void MultiplyPanel(int64_t panel, int64_t first, int count, const T* filters, const T* columns, T* products) const {
        Prefetch(panel, first, count);
        int64_t rows = Rows(panel);
        int vectors = (count + Simd<T>::kSize - 1) / Simd<T>::kSize;
        auto run = ChooseTile<T, PackedTile>(rows, vectors);
        TileOutput<T> out{};
        out.row = kTileColumns<T>;
        out.columns = vectors * Simd<T>::kSize;
        for (int e = 0; e < kWinogradProducts; ++e) {
            out.c = products + e * ProductSize();
            const T* a = filters + e * filter_step_;
            const T* b = columns + e * column_step_;
            for (int64_t c = 0; c < channels_; c += kChannels) {
                out.accumulate = c > 0;
                int64_t left = channels_ - c;
                run(left < kChannels ? left : kChannels, a + c * rows, b + c * kTileColumns<T>, out);
            }
        }
        for (int64_t r = 0; r < rows; ++r) {
            WriteTiles(panel * panel_rows_ + r, first, count, products + r * kTileColumns<T>);
        }
    }

    // Transforms the products of tiles of row m, and writes them to y.
    void WriteTiles(int64_t m, int64_t first, int count, const T* products) const {
        Vec<T> bias = Set(p_.bias != nullptr ? p_.bias[m] : T{0});
        T elements[4][4][kTileColumns<T>];
        for (int v = 0; v < count; v += Simd<T>::kSize) {
            Vec<T> in[6][6];
            Vec<T> sums[4][4];
            for (int e = 0; e < kWinogradProducts; ++e) in[e / 6][e % 6] = Load(products + e * ProductSize() + v);
            TransformBoth(
                    in, sums, [](const auto& x, auto& out) __attribute__((always_inline)) { TransformOutput(x, out); });
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) Store(elements[i][j] + v, sums[i][j] + bias);
            }
        }
        tiles_.VisitSpans(first, count, [&](const TileSpan& span) {
            T* to = Output(span, m);
            int64_t left = tiles_.width() - span.x;
            int whole = static_cast<int>(left / 4 < span.count ? left / 4 : span.count);
            for (int i = 0; i < 4 && span.y + i < tiles_.height(); ++i, to += tiles_.width()) {
                for (int t = 0; t < whole; ++t) {
                    for (int j = 0; j < 4; ++j) to[4 * t + j] = elements[i][j][span.lane + t];
                }
                for (int j = 0; whole < span.count && j < left - 4 * whole; ++j) {  // the last tile, cut off
                    to[4 * whole + j] = elements[i][j][span.lane + whole];
                }
            }
        });
    }

    // Fetches tiles of y, which WriteTiles will write.
    void Prefetch(int64_t panel, int64_t first, int count) const {
        tiles_.VisitSpans(first, count, [&](const TileSpan& span) {
            for (int64_t r = 0; r < Rows(panel); ++r) {
                const T* to = Output(span, panel * panel_rows_ + r);
                for (int i = 0; i < 4 && span.y + i < tiles_.height(); ++i, to += tiles_.width()) {
                    for (int k = 0; k < span.count * 4; k += static_cast<int>(64 / sizeof(T))) {
                        __builtin_prefetch(to + k, 1, 2);
                    }
                }
            }
        });
    }

    T* Output(const TileSpan& span, int64_t m) const {
        return p_.y + span.image * p_.y_image + m * p_.y_channel + span.y * tiles_.width() + span.x;
    }

    const Problem<T>& p_;
    WinogradTiles tiles_;
    int64_t rows_;
    int64_t channels_;
    int64_t panel_rows_;
    int64_t panels_;
    int64_t blocks_;       // of tiles
    int64_t filter_step_;  // from product to product
    int64_t column_step_;
};

}  // namespace chainerx::native::CHAINERX_ISA
