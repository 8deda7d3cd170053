#pragma once

// Convolution as implicit GEMM. Packs the weights once, packs blocks of columns directly from the image, for as many
// channels as fit the cache, and multiplies tile by tile. If there are few rows of weights or few channels, packing
// columns would take most of the time; they are then read from copies of rows of the image where possible. For *_isa.cc
// sources only.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/conv_narrow.h"
#include "chainerx/backends/native/kernels/conv_sliding.h"
#include "chainerx/backends/native/kernels/conv_window.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {

// The weight of row r, channel c and tap t is w[r * row + c * channel + tap[t]].
template <class T>
struct Filters {
    int64_t rows;      // output channels
    int64_t channels;  // input channels
    int64_t taps;
    const T* w;
    int64_t row;
    int64_t channel;
    const int64_t* tap;
};

// y[n, m, column] = sum over channels c and taps t of w(m, c, t) * x[n, c, image(column, t)], for one group
template <class T>
struct Problem {
    Window window;
    int64_t batch;
    Filters<T> filters;
    const T* packed;  // weights that are packed already, or null
    const T* x;       // the group's first channel
    int64_t x_image;  // distance of images
    const T* bias;    // (rows), or null
    const T* addend;  // laid out as y, or null
    bool relu;        // limits the sum:
    T least;
    T most;
    T* y;  // the group's first channel
    int64_t y_image;
    int64_t y_channel;
};

constexpr int64_t kDepth = 288;                     // channels * taps of one packed block
constexpr int64_t kBlockTiles = 24 / kTileVectors;  // tiles of one packed block
// Those of a block that slides by two elements: it copies the fewer elements for each column, the larger it is.
constexpr int64_t kLargeBlockTiles = 56 / kTileVectors;

// Weights, packed: [block of channels][panel of rows][channel, tap][row]. After each panel there is room for the
// excess that PackRows writes.
template <class T>
class PackedLayout {
public:
    PackedLayout(int64_t rows, int64_t channels, int64_t taps)
        : rows_{rows}, channels_{channels}, taps_{taps}, panel_rows_{PanelRows(rows)} {
        panels_ = (rows + panel_rows_ - 1) / panel_rows_;
        int64_t most = kDepth / taps > 0 ? kDepth / taps : 1;
        blocks_ = (channels + most - 1) / most;
        step_ = (channels + blocks_ - 1) / blocks_;
        panel_size_ = panel_rows_ * step_ * taps + Simd<T>::kSize;
    }
    int64_t panels() const { return panels_; }
    int64_t panel_rows() const { return panel_rows_; }
    int64_t blocks() const { return blocks_; }
    int64_t Size() const { return blocks_ * panels_ * panel_size_; }
    int64_t Panel(int64_t block, int64_t panel) const { return (block * panels_ + panel) * panel_size_; }
    int64_t Rows(int64_t panel) const { return Part(rows_, panel_rows_, panel); }
    // The channels of a block: the first one and their number
    int64_t Channel(int64_t block) const { return block * step_; }
    int64_t Channels(int64_t block) const { return Part(channels_, step_, block); }
    int64_t max_depth() const { return step_ * taps_; }

private:
    static int64_t Part(int64_t size, int64_t step, int64_t i) {
        int64_t left = size - i * step;
        return left < step ? left : step;
    }

    int64_t rows_;
    int64_t channels_;
    int64_t taps_;
    int64_t panel_rows_;
    int64_t panels_;
    int64_t blocks_;
    int64_t step_;  // channels of a block
    int64_t panel_size_;
};

template <class T>
void PackFilters(const Filters<T>& f, T* packed) {
    constexpr int64_t kPanels = 8;  // packed at a time: their weights for a channel are neighbours
    PackedLayout<T> layout{f.rows, f.channels, f.taps};
    bool contiguous = f.channel == f.taps;
    for (int64_t t = 0; t < f.taps; ++t) {
        contiguous = contiguous && f.tap[t] == t;
    }
    int64_t parts = (layout.panels() + kPanels - 1) / kPanels;
    int64_t work = kPanels * layout.max_depth() * layout.panel_rows();
    ParallelFor(layout.blocks() * parts, 1 + (1 << 16) / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t block = i / parts;
            int64_t first = i % parts * kPanels;
            int64_t last = first + kPanels < layout.panels() ? first + kPanels : layout.panels();
            int64_t channels = layout.Channels(block);
            const T* w = f.w + layout.Channel(block) * f.channel;
            if (contiguous) {
                for (int64_t panel = first; panel < last; ++panel) {
                    PackRows(layout.Rows(panel), channels * f.taps, w + panel * layout.panel_rows() * f.row, f.row,
                             packed + layout.Panel(block, panel));
                }
                continue;
            }
            for (int64_t c = 0; c < channels; ++c, w += f.channel) {
                for (int64_t panel = first; panel < last; ++panel) {
                    int64_t rows = layout.Rows(panel);
                    const T* from = w + panel * layout.panel_rows() * f.row;
                    T* out = packed + layout.Panel(block, panel) + c * f.taps * rows;
                    for (int64_t t = 0; t < f.taps; ++t, out += rows) {
                        for (int64_t r = 0; r < rows; ++r) {
                            out[r] = from[r * f.row + f.tap[t]];
                        }
                    }
                }
            }
        }
    });
}

// The columns of all images, cut into tiles none of which spans two images. The last few columns of an image are a tile
// of their own if there are too few for a vector.
template <class T>
class ColumnTiles {
public:
    explicit ColumnTiles(const Window& window) : ColumnTiles{SpatialSize(window.columns, window.ndim)} {}
    int64_t per_image() const { return per_image_; }
    int64_t Image(int64_t tile) const { return tile / per_image_; }
    int64_t Column(int64_t tile) const { return IsNarrow(tile) ? wide_ : tiles_.Column(tile % per_image_); }
    int Count(int64_t tile) const { return IsNarrow(tile) ? narrow_ : tiles_.Columns(tile % per_image_); }
    bool IsNarrow(int64_t tile) const { return tile % per_image_ == tiles_.count(); }

private:
    explicit ColumnTiles(int64_t columns)
        : narrow_{columns % Simd<T>::kSize <= kNarrowColumns ? static_cast<int>(columns % Simd<T>::kSize) : 0},
          wide_{columns - narrow_},
          tiles_{wide_},
          per_image_{tiles_.count() + (narrow_ > 0 ? 1 : 0)} {}

    int narrow_;
    int64_t wide_;  // columns of the other tiles
    VectorTiles<T> tiles_;
    int64_t per_image_;
};

// Some tiles: where they begin in the image and in the output.
template <class T>
class PartTiles {
public:
    // `reads_images`: tiles may be read from the image as it is.
    PartTiles(const Problem<T>& p, const ColumnTiles<T>& tiles, int64_t first, int64_t last, bool reads_images)
        : p_{p} {
        const Window& w = p.window;
        plane_ = SpatialSize(w.image, w.ndim);
        // Packing pays if many rows of weights read few channels or vectors that often cross a line of the caches, or
        // if planes lie so that they would share few lines.
        constexpr int64_t kManyRows = 128;
        int64_t rows = p.filters.rows;
        int64_t bytes = plane_ * sizeof(T);
        bool is_plain = reads_images && w.ndim == 1 && w.taps == 1 && w.stride[0] == 1 && w.offsets[0] == 0 &&
                        w.columns[0] == w.image[0] && rows <= 4 * p.filters.channels &&
                        (rows < kManyRows || bytes % 16 == 0) && bytes % 2048 != 0;
        for (int64_t tile = first; tile < last; ++tile) {
            int64_t image = tiles.Image(tile);
            int64_t column = tiles.Column(tile);
            int count = tiles.Count(tile);
            bool is_narrow = tiles.IsNarrow(tile);
            const T* x =
                    is_plain && !is_narrow && count % Simd<T>::kSize == 0 ? p.x + image * p.x_image + column : nullptr;
            places_[tile - first] = {image * p.y_image + column, count, is_narrow, x};
        }
    }

    bool IsNarrow(int64_t i) const { return places_[i].is_narrow; }
    int Count(int64_t i) const { return places_[i].count; }
    // Columns that need not be packed: a vector of a plane of the image for each channel
    bool IsInPlace(int64_t i) const { return places_[i].x != nullptr; }
    const T* InPlace(int64_t i, int64_t channel) const { return places_[i].x + channel * plane_; }
    int64_t plane() const { return plane_; }

    // The destination of the product with a panel of weights.
    TileOutput<T> Output(const PackedLayout<T>& layout, int64_t i, int64_t panel, int64_t block) const {
        int64_t m = panel * layout.panel_rows();
        int64_t offset = places_[i].y + m * p_.y_channel;
        bool is_last = block == layout.blocks() - 1;
        TileOutput<T> out{};
        out.c = p_.y + offset;
        out.row = p_.y_channel;
        out.columns = places_[i].count;
        out.bias = p_.bias != nullptr ? p_.bias + m : nullptr;
        out.accumulate = block > 0;
        out.addend = is_last && p_.addend != nullptr ? p_.addend + offset : nullptr;
        out.addend_row = p_.y_channel;
        out.relu = is_last && p_.relu;
        out.least = p_.least;
        out.most = p_.most;
        return out;
    }

private:
    struct Place {
        int64_t y;
        int count;
        bool is_narrow;
        const T* x;
    };
    const Problem<T>& p_;
    int64_t plane_;
    Place places_[kLargeBlockTiles];
};

// Columns of some tiles, packed for a block of channels at a time as [tile][channel, tap][column].
template <class T>
class PackedColumns {
public:
    // Leaves out those that lie in place.
    PackedColumns(const Problem<T>& p, const ColumnTiles<T>& tiles, const PartTiles<T>& part, int64_t first,
                  int64_t last, int64_t max_depth)
        : p_{p},
          tile_size_{max_depth * kTileColumns<T>},
          packed_{(last - first) * tile_size_},
          runs_{(last - first) * kTileVectors * VectorPlan<T>::MaxRuns(p.window)} {
        constexpr int kSize = Simd<T>::kSize;
        Run* runs = runs_.data();
        for (int64_t tile = first; tile < last; ++tile) {
            int count = part.IsInPlace(tile - first) ? 0 : tiles.Count(tile);
            for (int v = 0; v * kSize < count; ++v, ++vectors_) {
                int lanes = count - v * kSize;
                Vector& vector = vector_[vectors_];
                vector.plan.Make(p.window, tiles.Column(tile) + v * kSize, lanes < kSize ? lanes : kSize, runs);
                runs += vector.plan.GetRunCount();
                vector.image = tiles.Image(tile) * p.x_image;
                vector.out = (tile - first) * tile_size_ + v * kSize;
            }
        }
    }

    void Pack(int64_t channel, int64_t channels) {
        int64_t image_size = SpatialSize(p_.window.image, p_.window.ndim);
        int64_t taps = p_.window.taps;
        int64_t step = taps * kTileColumns<T>;
        const T* x = p_.x + channel * image_size;
        T* out = packed_.data();
        // A few channels at a time, along their rows: the first-level cache keeps what several taps see, also if
        // images lie a power of two apart.
        constexpr int64_t kChannels = 8;
        for (int64_t c = 0; c < channels; c += kChannels, x += kChannels * image_size, out += kChannels * step) {
            int64_t count = channels - c < kChannels ? channels - c : kChannels;
            for (int64_t v = 0; v < vectors_; ++v) {
                const Vector& vector = vector_[v];
                T* to = out + vector.out;
                for (int64_t t = 0; t < taps; ++t, to += kTileColumns<T>) {
                    vector.plan.Copy(x + vector.image, image_size, count, t, to, step);
                }
            }
        }
    }

    const T* Tile(int64_t index) const { return packed_.data() + index * tile_size_; }

private:
    struct Vector {
        VectorPlan<T> plan;
        int64_t image;
        int64_t out;
    };

    const Problem<T>& p_;
    int64_t tile_size_;
    int64_t vectors_{0};
    Vector vector_[kBlockTiles * kTileVectors];
    Scratch<T> packed_;
    Scratch<Run> runs_;
};

// The narrow ones of some tiles, for panels of one number of rows at a time.
template <class T>
class NarrowColumns {
public:
    NarrowColumns(const PartTiles<T>& part, int64_t count, int64_t max_depth)
        : part_{part},
          count_{count},
          data_{NumberTiles() * SpreadSize<T>(max_depth)},
          size_{SpreadSize<T>(max_depth)} {}

    // Reads them as they are packed.
    void Spread(const PackedColumns<T>& columns, int64_t depth, int64_t rows) {
        for (int64_t i = 0; i < count_; ++i) {
            if (part_.IsNarrow(i)) {
                SpreadColumns(depth, rows, part_.Count(i), columns.Tile(i), data_.data() + number_[i] * size_);
            }
        }
    }

    const T* Tile(int64_t i) const { return data_.data() + number_[i] * size_; }

private:
    int64_t NumberTiles() {
        int64_t number = 0;
        for (int64_t i = 0; i < count_; ++i) {
            number_[i] = number;
            number += part_.IsNarrow(i) ? 1 : 0;
        }
        return number;
    }

    const PartTiles<T>& part_;
    int64_t count_;
    int64_t number_[kBlockTiles];  // of narrow tiles before this one
    Scratch<T> data_;
    int64_t size_;
};

// The part of the product that a thread computes at a time.
struct Part {
    int64_t first_tile;
    int64_t last_tile;  // exclusive
    int64_t first_panel;
    int64_t last_panel;  // exclusive
};

// Multiplies packed columns with weights, which may be null for those of the problem.
template <class T>
void MultiplyPart(const Problem<T>& p, const PackedLayout<T>& layout, const ColumnTiles<T>& tiles, const T* weights,
                  const Part& part) {
    const Filters<T>& f = p.filters;
    PartTiles<T> places{p, tiles, part.first_tile, part.last_tile, weights != nullptr};
    PackedColumns<T> columns{p, tiles, places, part.first_tile, part.last_tile, layout.max_depth()};
    NarrowColumns<T> narrow{places, part.last_tile - part.first_tile, layout.max_depth()};
    for (int64_t block = 0; block < layout.blocks(); ++block) {
        int64_t channel = layout.Channel(block);
        int64_t channels = layout.Channels(block);
        columns.Pack(channel, channels);
        int64_t spread_rows = 0;
        for (int64_t panel = part.first_panel; panel < part.last_panel; ++panel) {
            int64_t rows = layout.Rows(panel);
            if (weights != nullptr && rows != spread_rows) {  // the last panel may have fewer
                narrow.Spread(columns, channels * f.taps, rows);
                spread_rows = rows;
            }
            for (int64_t i = 0; i < part.last_tile - part.first_tile; ++i) {
                TileOutput<T> out = places.Output(layout, i, panel, block);
                const T* b = columns.Tile(i);
                if (weights == nullptr) {
                    const T* w = f.w + panel * layout.panel_rows() * f.row + channel * f.channel;
                    DirectWeights<T> direct{w, f.row, f.channel, f.tap};
                    ChooseTile<T, DirectTile>(rows, out.vectors())(channels, f.taps, direct, b, out);
                    continue;
                }
                const T* a = weights + layout.Panel(block, panel);
                if (places.IsInPlace(i)) {
                    auto run = ChooseTile<T, PlanesTile>(rows, out.vectors());
                    run(channels, a, places.InPlace(i, channel), places.plane(), out);
                } else if (places.IsNarrow(i)) {
                    ChooseTile<T, NarrowTile>(rows, out.columns)(channels * f.taps, a, narrow.Tile(i), out);
                } else {
                    ChooseTile<T, PackedTile>(rows, out.vectors())(channels * f.taps, a, b, out);
                }
            }
        }
    }
}

// The same for windows that fit SlidingRows.
template <class T, int kStep>
void SlidePart(const Problem<T>& p, const PackedLayout<T>& layout, const ColumnTiles<T>& tiles, const T* weights,
               const Part& part) {
    constexpr int kSize = Simd<T>::kSize;
    constexpr int64_t kTiles = kStep == 1 ? kBlockTiles : kLargeBlockTiles;
    SlidingRows<T, kStep> sliding{p.window};
    PartTiles<T> places{p, tiles, part.first_tile, part.last_tile, false};
    int64_t width = p.window.columns[1];
    int64_t image_size = SpatialSize(p.window.image, 2);
    int64_t first_image = tiles.Image(part.first_tile);
    // Where each tile's vectors begin in the copy of a channel; rows of several images lie one after another.
    int64_t starts[kTiles][kTileVectors] = {};  // narrow tiles have fewer
    struct Rows {
        int64_t begin;
        int64_t end;
        int64_t at;
    };
    Rows segments[kTiles];  // by image
    int64_t plane = 0;
    for (int64_t tile = part.first_tile; tile < part.last_tile;) {
        int64_t image = tiles.Image(tile);
        Rows& rows = segments[image - first_image];
        rows.begin = tiles.Column(tile) / width;
        rows.at = plane;
        for (; tile < part.last_tile && tiles.Image(tile) == image; ++tile) {
            int count = tiles.Count(tile);
            for (int v = 0; v * kSize < count; ++v) {
                int64_t column = tiles.Column(tile) + v * kSize;
                int64_t row = column / width - rows.begin;
                starts[tile - part.first_tile][v] = plane + row * sliding.column_pitch() + column % width;
                rows.end = column / width + 1;
            }
        }
        plane += sliding.CountRows(rows.begin, rows.end) * sliding.pitch();
    }
    int64_t last_image = tiles.Image(part.last_tile - 1);
    Scratch<T> copy{layout.Channels(0) * plane + kSize};
    for (int64_t block = 0; block < layout.blocks(); ++block) {
        int64_t channel = layout.Channel(block);
        int64_t channels = layout.Channels(block);
        for (int64_t c = 0; c < channels; ++c) {
            for (int64_t image = first_image; image <= last_image; ++image) {
                const Rows& rows = segments[image - first_image];
                sliding.Copy(p.x + image * p.x_image + (channel + c) * image_size, rows.begin, rows.end,
                             copy.data() + c * plane + rows.at);
            }
        }
        for (int64_t panel = part.first_panel; panel < part.last_panel; ++panel) {
            int64_t rows = layout.Rows(panel);
            const T* a = weights + layout.Panel(block, panel);
            for (int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
                TileOutput<T> out = places.Output(layout, tile - part.first_tile, panel, block);
                const T* b[kTileVectors];
                for (int v = 0; v < kTileVectors; ++v) {
                    b[v] = copy.data() + starts[tile - part.first_tile][v];
                }
                ChooseTile<T, SlidingTile>(rows, out.vectors())(channels, p.window.taps, a, b, plane, sliding.offsets(),
                                                                out);
            }
        }
    }
}

template <class T>
void Multiply(const Problem<T>& p) {
    ColumnTiles<T> tiles{p.window};
    int64_t count = p.batch * tiles.per_image();
    if (count == 0 || p.filters.rows == 0) {
        return;
    }
    PackedLayout<T> layout{p.filters.rows, p.filters.channels, p.filters.taps};
    // Packing columns pays for many rows of weights, and needs some channels for each look at the plans of vectors.
    bool slides = (p.filters.rows <= 32 || p.filters.channels < 8) && FitsSliding<T>(p.window);
    bool slides_by_two = slides && p.window.stride[1] == 2;
    // For few columns, packing the weights takes longer than it saves.
    int64_t few = p.filters.channel < p.filters.row ? 64 : 24;  // vectors; reading scattered weights costs more
    bool packs = p.packed == nullptr && (slides || count * kTileColumns<T> > few * Simd<T>::kSize);
    Scratch<T> own{packs ? layout.Size() : 0};
    const T* weights = packs ? own.data() : p.packed;
    if (packs) {
        PackFilters(p.filters, own.data());
    }
    // Blocks of about equal size, of columns and if they are few of rows, so small that every thread gets some, and
    // equally many.
    int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
    int64_t wanted = threads == 1 ? 1 : threads * 2;
    int64_t block_tiles = slides_by_two ? kLargeBlockTiles : kBlockTiles;
    int64_t blocks = (count + block_tiles - 1) / block_tiles;
    if (blocks > wanted) {
        blocks = (blocks + threads - 1) / threads * threads;
        blocks = blocks < count ? blocks : count;
    }
    int64_t row_parts = 1;
    if (blocks < wanted) {
        row_parts = layout.panels() / 8 < wanted ? layout.panels() / 8 : wanted;
        row_parts = row_parts < 1 ? 1 : row_parts;
        int64_t more = (wanted + row_parts - 1) / row_parts;
        blocks = more < count ? (more > blocks ? more : blocks) : count;
    }
    int64_t work =
            p.filters.rows * p.filters.channels * p.filters.taps * count * kTileColumns<T> / (blocks * row_parts);
    ParallelFor(blocks * row_parts, 1 + (int64_t{1} << 18) / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t block = i / row_parts;
            int64_t rows = i % row_parts;
            Part part{count * block / blocks, count * (block + 1) / blocks, layout.panels() * rows / row_parts,
                      layout.panels() * (rows + 1) / row_parts};
            if (slides_by_two) {
                SlidePart<T, 2>(p, layout, tiles, weights, part);
            } else if (slides) {
                SlidePart<T, 1>(p, layout, tiles, weights, part);
            } else {
                MultiplyPart(p, layout, tiles, weights, part);
            }
        }
    });
}

}  // namespace chainerx::native::CHAINERX_ISA
