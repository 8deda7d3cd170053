// Convolution and its gradient with respect to the data, as implicit GEMM. Packs the weights once, packs blocks of
// columns directly from the image, for as many channels as fit the cache, and multiplies tile by tile.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/conv_sliding.h"
#include "chainerx/backends/native/kernels/conv_window.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// y[n, m, out(column)] = sum over channels c and taps t of w(m, c, t) * x[n, c, image(column, t)]
template <class T>
struct Problem {
    Window window;
    int64_t batch;
    int64_t rows;      // output channels of the group
    int64_t channels;  // input channels of the group
    const T* x;        // the group's first channel
    int64_t x_image;   // distance of images
    const T* w;
    int64_t w_row;
    int64_t w_channel;
    const int64_t* w_tap;  // (taps): offset of each tap in w
    const T* bias;         // (rows), or null
    T* y;                  // the group's first channel
    int64_t y_image;
    int64_t y_channel;
    const int64_t* scatter;  // (columns): offset of each column in a channel of y, or null when contiguous
};

constexpr int64_t kDepth = 288;      // channels * taps of one packed block
constexpr int64_t kBlockTiles = 16;  // tiles of one packed block: 16 * 32 * 288 floats are 590 KB

// Columns are cut into tiles, none of which spans two images.
template <class T>
class ColumnTiles {
public:
    explicit ColumnTiles(const Problem<T>& p) : columns_{SpatialSize(p.window.columns, p.window.ndim)} {
        per_image_ = (columns_ + kTileColumns<T> - 1) / kTileColumns<T>;
    }
    int64_t per_image() const { return per_image_; }
    int64_t Image(int64_t tile) const { return tile / per_image_; }
    int64_t Column(int64_t tile) const { return tile % per_image_ * kTileColumns<T>; }
    int Count(int64_t tile) const {
        int64_t left = columns_ - Column(tile);
        return static_cast<int>(left < kTileColumns<T> ? left : kTileColumns<T>);
    }

private:
    int64_t columns_;
    int64_t per_image_;
};

// The distance between packed panels of weights: a panel, and room for the excess that PackRows writes.
template <class T>
int64_t PanelSize(const Problem<T>& p) {
    return PanelRows(p.rows) * p.channels * p.window.taps + Simd<T>::kSize;
}

// Weights as [panel][k][rows of the panel], k running over channels and within them taps.
template <class T>
void PackWeights(const Problem<T>& p, T* packed) {
    int64_t taps = p.window.taps;
    int64_t depth = p.channels * taps;
    int64_t panel_rows = PanelRows(p.rows);
    int64_t panels = (p.rows + panel_rows - 1) / panel_rows;
    bool contiguous = p.w_channel == taps;
    for (int64_t t = 0; t < taps; ++t) {
        contiguous = contiguous && p.w_tap[t] == t;
    }
    ParallelFor(panels, 1 + (1 << 16) / (depth * panel_rows + 1), [&](int64_t begin, int64_t end) {
        // Some channels at a time, because a memory page holds weights of several panels.
        int64_t step = contiguous ? p.channels : 16;
        for (int64_t c = 0; c < p.channels; c += step) {
            int64_t c_end = c + step < p.channels ? c + step : p.channels;
            for (int64_t panel = begin; panel < end; ++panel) {
                int64_t m = panel * panel_rows;
                int64_t rows = p.rows - m < panel_rows ? p.rows - m : panel_rows;
                const T* w = p.w + m * p.w_row;
                T* out = packed + panel * PanelSize(p) + c * taps * rows;
                if (contiguous) {
                    PackRows(rows, depth, w, p.w_row, out);
                    continue;
                }
                for (int64_t channel = c; channel < c_end; ++channel) {
                    for (int64_t t = 0; t < taps; ++t) {
                        const T* from = w + channel * p.w_channel + p.w_tap[t];
                        for (int64_t r = 0; r < rows; ++r) {
                            *out++ = from[r * p.w_row];
                        }
                    }
                }
            }
        }
    });
}

// The destination of a tile of the product of weights and columns.
template <class T>
TileOutput<T> OutputOf(const Problem<T>& p, const ColumnTiles<T>& tiles, int64_t tile, int64_t m, bool accumulate) {
    int64_t column = tiles.Column(tile);
    T* y = p.y + tiles.Image(tile) * p.y_image + m * p.y_channel;
    TileOutput<T> out{};
    out.c = p.scatter != nullptr ? y : y + column;
    out.row = p.y_channel;
    out.columns = tiles.Count(tile);
    out.bias = p.bias != nullptr ? p.bias + m : nullptr;
    out.accumulate = accumulate;
    out.scatter = p.scatter != nullptr ? p.scatter + column : nullptr;
    return out;
}

// Channels whose columns are packed together: as many as kDepth allows, at least one.
template <class T>
int64_t CountChannels(const Problem<T>& p) {
    int64_t count = kDepth / p.window.taps;
    return count > 0 ? count : 1;
}

// Calls multiply(m, rows, panel of weights from channel c on) for all panels.
template <class T, class F>
CHAINERX_INLINE void ForPanels(const Problem<T>& p, const T* weights, int64_t c, const F& multiply) {
    int64_t panel_rows = PanelRows(p.rows);
    for (int64_t m = 0; m < p.rows; m += panel_rows) {
        int64_t rows = p.rows - m < panel_rows ? p.rows - m : panel_rows;
        multiply(m, rows, weights + m / panel_rows * PanelSize(p) + c * p.window.taps * rows);
    }
}

// Multiplies tiles [first, last) of columns with all weights: packed ones, or the original ones if null.
template <class T>
void MultiplyBlock(const Problem<T>& p, const ColumnTiles<T>& tiles, const T* weights, int64_t first, int64_t last) {
    constexpr int kSize = Simd<T>::kSize;
    int64_t taps = p.window.taps;
    int64_t image_size = SpatialSize(p.window.image, p.window.ndim);
    int64_t step = CountChannels(p);
    int64_t panel_size = step * taps * kTileColumns<T>;
    Scratch<T> packed{(last - first) * panel_size};
    VectorPlan<T> plan{p.window};
    for (int64_t c = 0; c < p.channels; c += step) {
        int64_t c_end = c + step < p.channels ? c + step : p.channels;
        for (int64_t tile = first; tile < last; ++tile) {
            const T* x = p.x + tiles.Image(tile) * p.x_image;
            int count = tiles.Count(tile);
            for (int v = 0; v * kSize < count; ++v) {
                int lanes = count - v * kSize;
                plan.Make(tiles.Column(tile) + v * kSize, lanes < kSize ? lanes : kSize);
                T* out = packed.data() + (tile - first) * panel_size + v * kSize;
                for (int64_t channel = c; channel < c_end; ++channel) {
                    const T* image = x + channel * image_size;
                    for (int64_t t = 0; t < taps; ++t, out += kTileColumns<T>) {
                        Store(out, plan.Read(image, t));
                    }
                }
            }
        }
        ForPanels(p, weights, c, [&](int64_t m, int64_t rows, const T* a) {
            for (int64_t tile = first; tile < last; ++tile) {
                TileOutput<T> out = OutputOf(p, tiles, tile, m, c > 0);
                const T* b = packed.data() + (tile - first) * panel_size;
                if (weights == nullptr) {
                    DirectWeights<T> direct{p.w + m * p.w_row + c * p.w_channel, p.w_row, p.w_channel, p.w_tap};
                    ChooseTile<T, DirectTile>(rows, out.columns)(c_end - c, taps, direct, b, out);
                } else {
                    ChooseTile<T, PackedTile>(rows, out.columns)((c_end - c) * taps, a, b, out);
                }
            }
        });
    }
}

// The same for windows that fit SlidingRows.
template <class T>
void SlideBlock(const Problem<T>& p, const ColumnTiles<T>& tiles, const T* weights, int64_t first, int64_t last) {
    constexpr int kSize = Simd<T>::kSize;
    SlidingRows<T> sliding{p.window};
    int64_t width = p.window.columns[1];
    int64_t image_size = SpatialSize(p.window.image, 2);
    // Where each tile's vectors begin in the copy of a channel; rows of several images lie one after another.
    int64_t starts[kBlockTiles][2] = {};  // narrow tiles have one vector
    struct Rows {
        int64_t begin;
        int64_t end;
        int64_t at;
    };
    Rows segments[kBlockTiles];  // by image
    int64_t plane = 0;
    for (int64_t tile = first; tile < last;) {
        int64_t image = tiles.Image(tile);
        Rows& rows = segments[image - tiles.Image(first)];
        rows.begin = tiles.Column(tile) / width;
        rows.at = plane;
        for (; tile < last && tiles.Image(tile) == image; ++tile) {
            int count = tiles.Count(tile);
            for (int v = 0; v * kSize < count; ++v) {
                int64_t column = tiles.Column(tile) + v * kSize;
                starts[tile - first][v] = plane + (column / width - rows.begin) * sliding.pitch() + column % width;
                rows.end = column / width + 1;
            }
        }
        plane += sliding.CountRows(rows.begin, rows.end) * sliding.pitch();
    }
    int64_t step = CountChannels(p);
    Scratch<T> copy{step * plane + kSize};
    for (int64_t c = 0; c < p.channels; c += step) {
        int64_t c_end = c + step < p.channels ? c + step : p.channels;
        for (int64_t channel = c; channel < c_end; ++channel) {
            for (int64_t image = tiles.Image(first); image <= tiles.Image(last - 1); ++image) {
                const Rows& rows = segments[image - tiles.Image(first)];
                sliding.Copy(p.x + image * p.x_image + channel * image_size, rows.begin, rows.end,
                             copy.data() + (channel - c) * plane + rows.at);
            }
        }
        ForPanels(p, weights, c, [&](int64_t m, int64_t rows, const T* a) {
            for (int64_t tile = first; tile < last; ++tile) {
                TileOutput<T> out = OutputOf(p, tiles, tile, m, c > 0);
                const T* b[] = {copy.data() + starts[tile - first][0], copy.data() + starts[tile - first][1]};
                ChooseTile<T, SlidingTile>(rows, out.columns)(c_end - c, p.window.taps, a, b, plane, sliding.offsets(),
                                                              out);
            }
        });
    }
}

template <class T>
void Multiply(const Problem<T>& p) {
    int64_t taps = p.window.taps;
    int64_t depth = p.channels * taps;
    ColumnTiles<T> tiles{p};
    int64_t count = p.batch * tiles.per_image();
    if (count == 0 || p.rows == 0) {
        return;
    }
    int64_t panel_rows = PanelRows(p.rows);
    bool slides = SlidingRows<T>::Fits(p.window);
    // For few columns, packing the weights takes longer than it saves.
    bool direct = !slides && count <= 2 * kBlockTiles;
    Scratch<T> packed{direct ? 0 : (p.rows + panel_rows - 1) / panel_rows * PanelSize(p)};
    const T* weights = direct ? nullptr : packed.data();
    if (!direct) {
        PackWeights(p, packed.data());
    }
    // Blocks small enough that every thread gets some.
    int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
    int64_t block = (count + threads * 2 - 1) / (threads * 2);
    block = threads == 1 || block > kBlockTiles ? kBlockTiles : block;
    int64_t blocks = (count + block - 1) / block;
    int64_t work = p.rows * depth * block * kTileColumns<T>;
    ParallelFor(blocks, 1 + (int64_t{1} << 18) / (work + 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t first = i * block;
            int64_t last = first + block < count ? first + block : count;
            if (slides) {
                SlideBlock(p, tiles, weights, first, last);
            } else {
                MultiplyBlock(p, tiles, weights, first, last);
            }
        }
    });
}

// Treats a convolution without spatial dimensions as one with a dimension of size one.
ConvShape AtLeastOneDim(const ConvShape& shape) {
    ConvShape s = shape;
    if (s.ndim == 0) {
        s.ndim = 1;
        s.in[0] = s.kernel[0] = s.out[0] = s.stride[0] = s.dilation[0] = 1;
        s.pad[0] = 0;
    }
    return s;
}

template <class T>
void Fill(T* data, int64_t channels, int64_t size, const T* bias) {
    for (int64_t c = 0; c < channels; ++c) {
        T value = bias != nullptr ? bias[c] : T{0};
        for (int64_t i = 0; i < size; ++i) {
            data[c * size + i] = value;
        }
    }
}

}  // namespace

template <class T>
void ConvForward(const ConvShape& shape, const T* x, const T* w, const T* bias, T* y) {
    ConvShape s = AtLeastOneDim(shape);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    if (in_group * taps * in_size == 0) {
        Fill(y, s.batch * s.out_channels, out_size, static_cast<const T*>(nullptr));
        for (int64_t n = 0; bias != nullptr && n < s.batch; ++n) {
            Fill(y + n * s.out_channels * out_size, s.out_channels, out_size, bias);
        }
        return;
    }
    Scratch<int64_t> offsets{taps * s.ndim};
    Scratch<int64_t> w_tap{taps};
    for (int64_t t = 0; t < taps; ++t) {
        w_tap.data()[t] = t;
        int64_t rest = t;
        for (int d = s.ndim - 1; d >= 0; --d) {
            offsets.data()[t * s.ndim + d] = rest % s.kernel[d] * s.dilation[d] - s.pad[d];
            rest /= s.kernel[d];
        }
    }
    Problem<T> p{};
    p.window.ndim = s.ndim;
    p.window.taps = taps;
    p.window.offsets = offsets.data();
    for (int d = 0; d < s.ndim; ++d) {
        p.window.image[d] = s.in[d];
        p.window.columns[d] = s.out[d];
        p.window.stride[d] = s.stride[d];
    }
    p.batch = s.batch;
    p.rows = out_group;
    p.channels = in_group;
    p.x_image = s.in_channels * in_size;
    p.w_row = in_group * taps;
    p.w_channel = taps;
    p.w_tap = w_tap.data();
    p.y_image = s.out_channels * out_size;
    p.y_channel = out_size;
    ParallelFor(s.groups, 1, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
            Problem<T> group = p;
            group.x = x + g * in_group * in_size;
            group.w = w + g * out_group * p.w_row;
            group.bias = bias != nullptr ? bias + g * out_group : nullptr;
            group.y = y + g * out_group * out_size;
            Multiply(group);
        }
    });
}

template <class T>
void ConvBackwardData(const ConvShape& shape, const T* gy, const T* w, const T* bias, T* gx) {
    // Positions of x that are equal modulo the stride see the same taps, with gy read at stride one: a
    // convolution of gy for each such phase.
    ConvShape s = AtLeastOneDim(shape);
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    int64_t phases[kMaxSpatialDims];  // those that some position has
    bool unit = true;
    for (int d = 0; d < s.ndim; ++d) {
        phases[d] = s.stride[d] < s.in[d] ? s.stride[d] : s.in[d];
        unit = unit && s.stride[d] == 1;
    }
    bool dense = unit && out_group * taps * out_size > 0;
    if (!dense) {
        for (int64_t n = 0; n < s.batch; ++n) {
            Fill(gx + n * s.in_channels * in_size, s.in_channels, in_size, bias);
        }
        if (out_group * taps * out_size == 0) {
            return;
        }
    }
    Scratch<int64_t> offsets{taps * s.ndim};
    Scratch<int64_t> w_tap{taps};
    Scratch<int64_t> scatter{unit ? 0 : in_size};
    int64_t phase_count = SpatialSize(phases, s.ndim);
    for (int64_t phase = 0; phase < phase_count; ++phase) {
        Problem<T> p{};
        int64_t start[kMaxSpatialDims];
        int64_t rest = phase;
        for (int d = s.ndim - 1; d >= 0; --d) {
            start[d] = rest % phases[d];
            rest /= phases[d];
            p.window.image[d] = s.out[d];
            p.window.columns[d] = (s.in[d] - start[d] + s.stride[d] - 1) / s.stride[d];
            p.window.stride[d] = 1;
        }
        for (int64_t i = 0; i < taps; ++i) {
            int64_t t = taps - 1 - i;  // the image is then read forward
            int64_t* offset = offsets.data() + p.window.taps * s.ndim;
            bool hit = true;
            rest = t;
            for (int d = s.ndim - 1; d >= 0; --d) {
                int64_t numerator = start[d] + s.pad[d] - rest % s.kernel[d] * s.dilation[d];
                rest /= s.kernel[d];
                hit = hit && numerator % s.stride[d] == 0;
                offset[d] = numerator / s.stride[d];
            }
            if (hit) {
                w_tap.data()[p.window.taps++] = t;
            }
        }
        p.window.ndim = s.ndim;
        p.window.offsets = offsets.data();
        int64_t columns = SpatialSize(p.window.columns, s.ndim);
        if (p.window.taps == 0 || columns == 0) {
            continue;
        }
        if (!unit) {
            for (int64_t column = 0; column < columns; ++column) {
                int64_t index = 0;
                int64_t scale = 1;
                rest = column;
                for (int d = s.ndim - 1; d >= 0; --d) {
                    index += (rest % p.window.columns[d] * s.stride[d] + start[d]) * scale;
                    rest /= p.window.columns[d];
                    scale *= s.in[d];
                }
                scatter.data()[column] = index;
            }
            p.scatter = scatter.data();
        }
        p.batch = s.batch;
        p.rows = in_group;
        p.channels = out_group;
        p.x_image = s.out_channels * out_size;
        p.w_row = taps;
        p.w_channel = in_group * taps;
        p.w_tap = w_tap.data();
        p.y_image = s.in_channels * in_size;
        p.y_channel = in_size;
        ParallelFor(s.groups, 1, [&](int64_t begin, int64_t end) {
            for (int64_t g = begin; g < end; ++g) {
                Problem<T> group = p;
                group.x = gy + g * out_group * out_size;
                group.w = w + g * out_group * p.w_channel;
                group.bias = bias != nullptr ? bias + g * in_group : nullptr;
                group.y = gx + g * in_group * in_size;
                Multiply(group);
            }
        });
    }
}

template void ConvForward<float>(const ConvShape&, const float*, const float*, const float*, float*);
template void ConvForward<double>(const ConvShape&, const double*, const double*, const double*, double*);
template void ConvBackwardData<float>(const ConvShape&, const float*, const float*, const float*, float*);
template void ConvBackwardData<double>(const ConvShape&, const double*, const double*, const double*, double*);

}  // namespace chainerx::native::CHAINERX_ISA
