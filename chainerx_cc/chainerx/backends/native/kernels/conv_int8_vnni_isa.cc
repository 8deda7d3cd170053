// Convolutions of 8-bit integers. An image is packed into planes [rows][pitch][kDepth], so that a vector holds kDepth
// elements of the windows of kLanes neighbouring outputs. Windows of a plane overlap: an element of the window is a
// step in the plane, and outputs are numbered through rows of the pitch, of which the last few are computed for
// nothing.

#include "chainerx/backends/native/kernels/conv_int8.h"
#include "chainerx/backends/native/kernels/dot_int8.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"
#include "chainerx/backends/native/kernels/window_rows.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

using Weight = RowElement<uint8_t>;

CHAINERX_INLINE int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
CHAINERX_INLINE int64_t RoundedUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The order of the elements of a window, which depends on channels and kernel only. Dimensions before the last two are
// unrolled: their elements of the window are further channels.
struct WindowOrder {
    explicit WindowOrder(const ConvShape& s) : before{s.ndim > 2 ? s.ndim - 2 : 0} {
        for (int d = 0; d < 2; ++d) {
            int at = s.ndim - 2 + d;
            kernel[d] = at >= 0 ? s.kernel[at] : 1;
            dilation[d] = at >= 0 ? s.dilation[at] : 1;
        }
        unrolled = SpatialSize(s.kernel, before);
        channels = s.in_channels / s.groups * unrolled;
        taps = kernel[0] * kernel[1];
        bool is_compact = kernel[0] <= 16 && kernel[1] <= 16 && dilation[0] <= 2 && dilation[1] <= 2;
        by_channels = is_compact && 2 * channels > kDepth;
        steps = by_channels ? RoundedUp(channels, kDepth) * taps : RoundedUp(channels * taps, kDepth);
    }
    // The weight of a channel of the output for an element of a step, or -1.
    CHAINERX_INLINE int64_t WeightAt(int64_t step, int d) const {
        if (!by_channels) return step * kDepth + d < channels * taps ? step * kDepth + d : -1;
        int64_t channel = step / taps * kDepth + d;
        return channel < channels ? channel * taps + step % taps : -1;
    }

    int before;         // the number of dimensions before the last two
    int64_t unrolled;   // elements of the window in them
    int64_t channels;   // of a group, times these
    int64_t kernel[2];  // in the last two
    int64_t dilation[2];
    int64_t taps;  // elements of the window in the last two
    // Steps are elements of the window of kDepth channels, or else kDepth elements of the window in order.
    bool by_channels;
    int64_t steps;
};

// Where the elements of a part of the rows of an output are, while an image is packed.
struct ImageLayout {
    ImageLayout(const ConvShape& s, const WindowOrder& order) : order{order} {
        for (int d = 0; d < 2; ++d) {
            int at = s.ndim - 2 + d;
            in[d] = at >= 0 ? s.in[at] : 1;
            out[d] = at >= 0 ? s.out[at] : 1;
            stride[d] = at >= 0 ? s.stride[at] : 1;
            pad[d] = at >= 0 ? s.pad[at] : 0;
            int64_t span = (order.kernel[d] - 1) * order.dilation[d];
            phases[d] = order.by_channels ? Smaller(stride[d], span + 1) : 1;
            more[d] = order.by_channels ? span / stride[d] : 0;
        }
        pitch = out[1] + more[1];
        planes = order.by_channels ? RoundedUp(order.channels, kDepth) * phases[0] * phases[1] : order.steps;
    }
    int64_t PlaneSize(int64_t rows) const { return (rows + more[0]) * pitch * kDepth; }
    // Outputs of some rows, with those between them
    int64_t Places(int64_t rows) const { return rows * pitch - more[1]; }
    // Where a step is, for some rows
    int64_t Offset(int64_t step, int64_t rows) const {
        if (!order.by_channels) return step * PlaneSize(rows);
        int64_t y = step % order.taps / order.kernel[1] * order.dilation[0];
        int64_t x = step % order.kernel[1] * order.dilation[1];
        int64_t plane = (step / order.taps * phases[0] + y % stride[0]) * phases[1] + x % stride[1];
        return plane * PlaneSize(rows) + (y / stride[0] * pitch + x / stride[1]) * kDepth;
    }

    const WindowOrder& order;
    int64_t in[2];
    int64_t out[2];
    int64_t stride[2];
    int64_t pad[2];
    int64_t phases[2];  // planes hold each stride-th row and column from one of these on
    int64_t more[2];    // rows and columns of a plane beyond those of the output
    int64_t pitch;
    int64_t planes;
};

// Writes `count` columns of a row, or what is outside of the image.
CHAINERX_INLINE void CopyRow(const uint8_t* __restrict row, int64_t first, int64_t stride, int64_t size, int64_t count,
                             uint8_t outside, uint8_t* __restrict to) {
    int64_t begin = 0;
    int64_t end = 0;
    if (row != nullptr) InsideRange(first, stride, size, count, &begin, &end);
    for (int64_t i = 0; i < begin; ++i) to[i] = outside;
    if (stride == 1) {
        for (int64_t i = begin; i < end; ++i) to[i] = row[first + i];
    } else if (stride == 2) {
        for (int64_t i = begin; i < end; ++i) to[i] = row[first + i * 2];
    } else {
        for (int64_t i = begin; i < end; ++i) to[i] = row[first + i * stride];
    }
    for (int64_t i = end; i < count; ++i) to[i] = outside;
}

// Interleaves rows; `flip` changes the sign bit of each.
void Interleave(const uint8_t* __restrict rows, int64_t count, uint8_t flip, uint8_t* __restrict to) {
    using Group = std::conditional_t<kDepth == 4, uint32_t, uint16_t>;
    Group mask = flip != 0 ? static_cast<Group>(0x80808080U) : Group{0};
    for (int64_t i = 0; i < count; ++i) {
        Group group = 0;
#pragma GCC unroll 4
        for (int d = 0; d < kDepth; ++d) group |= static_cast<Group>(static_cast<Group>(rows[d * count + i]) << 8 * d);
        group ^= mask;
        __builtin_memcpy(to + i * kDepth, &group, sizeof(group));
    }
}

// The plane of a channel at a position of the unrolled dimensions, or null in their padding.
const uint8_t* PlaneOf(const ConvShape& s, const WindowOrder& order, const uint8_t* image, int64_t position,
                       int64_t channel) {
    if (channel >= order.channels) return nullptr;
    int64_t tap = channel % order.unrolled;
    int64_t at = 0;
    int64_t step = SpatialSize(s.in + order.before, s.ndim - order.before);
    int64_t size = step;
    for (int d = order.before - 1; d >= 0; --d) {
        int64_t i = position % s.out[d] * s.stride[d] + tap % s.kernel[d] * s.dilation[d] - s.pad[d];
        if (i < 0 || i >= s.in[d]) return nullptr;
        at += i * step;
        step *= s.in[d];
        size *= s.in[d];
        position /= s.out[d];
        tap /= s.kernel[d];
    }
    return image + channel / order.unrolled * size + at;
}

// Some rows of an output, for one group of one image, at one position of the unrolled dimensions
template <class T>
struct ConvBlock {
    const Int8Convolution<T>& c;
    const ImageLayout& layout;
    const uint8_t* image;  // of the group
    int64_t position;
    int64_t first_row;
    int64_t rows;
};

template <class T>
void PackBlock(const ConvBlock<T>& b, uint8_t* line, uint8_t* packed) {
    const ImageLayout& l = b.layout;
    const WindowOrder& order = l.order;
    int64_t width = l.pitch;
    for (int64_t plane = 0; plane < l.planes; ++plane) {
        const uint8_t* from[kDepth];
        int64_t y[kDepth];
        int64_t x[kDepth];
        for (int d = 0; d < kDepth; ++d) {
            int64_t channel = plane * kDepth + d;
            if (order.by_channels) {
                channel = plane / (l.phases[0] * l.phases[1]) * kDepth + d;
                y[d] = plane / l.phases[1] % l.phases[0];
                x[d] = plane % l.phases[1];
            } else {
                y[d] = channel % order.taps / order.kernel[1] * order.dilation[0];
                x[d] = channel % order.kernel[1] * order.dilation[1];
                channel /= order.taps;
            }
            from[d] = PlaneOf(b.c.shape, order, b.image, b.position, channel);
        }
        for (int64_t r = 0; r < b.rows + l.more[0]; ++r) {
            for (int d = 0; d < kDepth; ++d) {
                int64_t at = (b.first_row + r) * l.stride[0] + y[d] - l.pad[0];
                bool is_inside = from[d] != nullptr && at >= 0 && at < l.in[0];
                CopyRow(is_inside ? from[d] + at * l.in[1] : nullptr, x[d] - l.pad[1], l.stride[1], l.in[1], width,
                        b.c.outside, line + d * width);
            }
            Interleave(line, width, b.c.is_signed ? 128 : 0, packed);
            packed += width * kDepth;
        }
    }
}

// Sums of kRows rows of weights, `w_row` apart, with windows of kVectors vectors, to sums [kRows][kVectors][kLanes]
template <class T>
struct ConvTile {
    template <int kRows, int kVectors>
    static void Run(int64_t steps, const Weight* w, int64_t w_row, const int64_t* offsets, const uint8_t* windows,
                    uint32_t* sums) {
        Sums acc[kRows][kVectors] = {};
        for (int64_t p = 0; p < steps; ++p) {
            const uint8_t* at = windows + offsets[p];
            decltype(LoadColumns(at)) columns[kVectors];
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) columns[v] = LoadColumns(at + v * kLanes * kDepth);
#pragma GCC unroll 16
            for (int r = 0; r < kRows; ++r) {
                uint32_t row = LoadRow(w + r * w_row + p * kDepth);
#pragma GCC unroll 16
                for (int v = 0; v < kVectors; ++v) acc[r][v] = AddProducts(acc[r][v], row, columns[v]);
            }
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) Store(sums + (r * kVectors + v) * kLanes, acc[r][v]);
        }
    }
};

CHAINERX_INLINE void StoreResult(const Int8ConvEpilogue&, int64_t, Sums sums, int32_t* to) {
    Store(to, (Vec<int32_t>)sums);
}

CHAINERX_INLINE Vec<float> Scaled(const Int8ConvEpilogue& e, int64_t channel, Sums sums) {
    Vec<float> y = __builtin_convertvector((Vec<int32_t>)sums, Vec<float>) * Set(e.scales[channel]);
    if (e.bias != nullptr) y += Set(e.bias[channel]);
    Vec<float> least = Set(e.least);
    Vec<float> most = Set(e.most);
    y = y < least ? least : y;
    return y > most ? most : y;
}

CHAINERX_INLINE void StoreResult(const Int8ConvEpilogue& e, int64_t channel, Sums sums, float* to) {
    Store(to, Scaled(e, channel, sums));
}

template <class T>
CHAINERX_INLINE void StoreResult(const Int8ConvEpilogue& e, int64_t channel, Sums sums, T* to) {
    typedef T Bytes __attribute__((vector_size(kLanes)));
    // Adding this number rounds away what is below one, and leaves the integer in its last bits.
    constexpr float kMagic = 12582912.0F;  // 1.5 * 2^23
    constexpr int32_t kMagicBits = 0x4B400000;
    constexpr int32_t kLeast = std::is_signed_v<T> ? -128 : 0;
    Vec<float> y = Scaled(e, channel, sums);
    if (e.unit != 1) y /= Set(e.unit);
    Vec<float> least = Set(static_cast<float>(kLeast - e.zero));
    Vec<float> most = Set(static_cast<float>(kLeast + 255 - e.zero));
    y = y > least ? y : least;  // also for NaN
    y = y < most ? y : most;
    y += Set(kMagic);
    auto bytes = __builtin_convertvector((Vec<int32_t>)y - Set(kMagicBits - e.zero), Bytes);
    __builtin_memcpy(to, &bytes, sizeof(bytes));
}

constexpr int kMaxColumns = kTileColumns<int32_t>;

// Outputs of some channels of a group, all of the same block.
template <class T>
void ConvolveBlock(const ConvBlock<T>& b, const int64_t* offsets, const uint8_t* packed, int64_t begin, int64_t end,
                   T* y, int64_t channel_size, T* results) {
    const Int8Convolution<T>& c = b.c;
    int64_t steps = b.layout.order.steps;
    int64_t width = b.layout.pitch;
    int64_t places = b.layout.Places(b.rows);
    VectorTiles<int32_t> tiles{places};
    int64_t room = tiles.vectors() * kLanes;
    int64_t step = PanelRows(end - begin);
    auto weights = static_cast<const Weight*>(c.weights);
    const Weight* ones = weights + c.shape.out_channels * steps * kDepth;
    uint32_t sums[kTileRows * kMaxColumns];
    uint32_t image_sums[kMaxColumns];
    for (int64_t channel = begin; channel < end; channel += step) {
        int rows = static_cast<int>(Smaller(step, end - channel));
        for (int64_t tile = 0; tile < tiles.count(); ++tile) {
            int64_t place = tiles.Column(tile);
            int vectors = (tiles.Columns(tile) + kLanes - 1) / kLanes;
            const uint8_t* windows = packed + place * kDepth;
            ChooseTile<int32_t, ConvTile>(rows, vectors)(steps, weights + channel * steps * kDepth, steps * kDepth,
                                                         offsets, windows, sums);
            if (c.zeros != nullptr) {
                ChooseTile<int32_t, ConvTile>(1, vectors)(steps, ones, 0, offsets, windows, image_sums);
            }
            for (int r = 0; r < rows; ++r) {
                Sums start = Set(static_cast<uint32_t>(c.starts[channel + r]));
                for (int v = 0; v < vectors; ++v) {
                    Sums value = Load(sums + (r * vectors + v) * kLanes) + start;
                    if (c.zeros != nullptr) {
                        value -= Load(image_sums + v * kLanes) * Set(static_cast<uint32_t>(c.zeros[channel + r]));
                    }
                    StoreResult(c.epilogue, channel + r, value, results + r * room + place + v * kLanes);
                }
            }
        }
        for (int r = 0; r < rows; ++r) {
            for (int64_t row = 0; row < b.rows; ++row) {
                __builtin_memcpy(y + (channel + r - begin) * channel_size + row * b.layout.out[1],
                                 results + r * room + row * width, b.layout.out[1] * sizeof(T));
            }
        }
    }
}

// Bytes of packed rows of images that stay in the second-level cache
constexpr int64_t kBlockBytes = int64_t{1} << 18;

}  // namespace

template <class T>
void GetInt8WeightsSize(const ConvShape& shape, int64_t* size) {
    *size = (shape.out_channels + 1) * WindowOrder{shape}.steps * kDepth * static_cast<int64_t>(sizeof(Weight));
}

template <class T>
void PackInt8Weights(const ConvShape& shape, const T* w, void* packed, int32_t* sums) {
    constexpr int kShift = std::is_signed_v<T> ? 0 : 128;
    WindowOrder order{shape};
    int64_t size = order.channels * order.taps;
    auto to = static_cast<Weight*>(packed);
    for (int64_t channel = 0; channel <= shape.out_channels; ++channel) {
        bool is_ones = channel == shape.out_channels;
        uint32_t sum = 0;
        for (int64_t step = 0; step < order.steps; ++step) {
            for (int d = 0; d < kDepth; ++d) {
                int64_t at = order.WeightAt(step, d);
                int value = at < 0 ? 0 : is_ones ? 1 : w[channel * size + at] - kShift;
                sum += static_cast<uint32_t>(value);
                *to++ = static_cast<Weight>(value);
            }
        }
        if (!is_ones) sums[channel] = static_cast<int32_t>(sum);
    }
}

template <class T>
void ConvolveInt8(const Int8Convolution<T>& c) {
    const ConvShape& s = c.shape;
    WindowOrder order{s};
    ImageLayout layout{s, order};
    int64_t channels = s.out_channels / s.groups;
    int64_t out = layout.out[0] * layout.out[1];
    int64_t positions = SpatialSize(s.out, order.before);
    int64_t units = s.batch * s.groups * positions;
    if (units * channels * out == 0) {
        return;
    }
    // Parts of the rows of images; if they are few, every thread gets some of the channels.
    int64_t wanted = InParallelRegion() ? 1 : GetNumThreads();
    int64_t rows = Smaller(layout.out[0], 1 + kBlockBytes / (layout.planes * layout.pitch * kDepth + 1));
    int64_t least = RoundedUp(layout.out[0] * units, wanted);
    rows = Smaller(rows, least < 8 ? 8 : least);
    int64_t blocks = RoundedUp(layout.out[0], rows);
    int64_t parts = Smaller(RoundedUp(wanted, units * blocks), RoundedUp(channels, kTileRows));
    constexpr double kMinWork = 1 << 19;
    double work = static_cast<double>(channels) * static_cast<double>(rows * layout.out[1]) *
                  static_cast<double>(order.steps * kDepth) / static_cast<double>(parts);
    ParallelFor(units * blocks * parts, 1 + static_cast<int64_t>(kMinWork / (work + 1)),
                [&](int64_t begin, int64_t end) {
                    Scratch<int64_t> offsets{order.steps};
                    Scratch<uint8_t> line{layout.pitch * kDepth};
                    Scratch<uint8_t> packed{layout.planes * layout.PlaneSize(rows) + (kMaxColumns + kLanes) * kDepth};
                    Scratch<T> results{kTileRows * (layout.Places(rows) + kMaxColumns)};
                    for (int64_t i = begin; i < end; ++i) {
                        int64_t part = i % parts;
                        int64_t unit = i / parts / blocks;
                        int64_t image = unit / positions;  // and group
                        int64_t first = image % s.groups * channels;
                        ConvBlock<T> b{c, layout, nullptr, unit % positions, i / parts % blocks * rows, rows};
                        b.image = c.x + image * (s.in_channels / s.groups) * SpatialSize(s.in, s.ndim);
                        b.rows = Smaller(rows, layout.out[0] - b.first_row);
                        for (int64_t step = 0; step < order.steps; ++step)
                            offsets.data()[step] = layout.Offset(step, b.rows);
                        PackBlock(b, line.data(), packed.data());
                        int64_t from = first + channels * part / parts;
                        int64_t to = first + channels * (part + 1) / parts;
                        // Of the output, (batch, out_channels, positions, rows, columns)
                        T* y = c.y + ((image / s.groups * s.out_channels + from) * positions + b.position) * out +
                               b.first_row * layout.out[1];
                        ConvolveBlock(b, offsets.data(), packed.data(), from, to, y, positions * out, results.data());
                    }
                });
}

template void GetInt8WeightsSize<int8_t>(const ConvShape&, int64_t*);
template void PackInt8Weights<int8_t>(const ConvShape&, const int8_t*, void*, int32_t*);
template void PackInt8Weights<uint8_t>(const ConvShape&, const uint8_t*, void*, int32_t*);
template void ConvolveInt8<int32_t>(const Int8Convolution<int32_t>&);
template void ConvolveInt8<float>(const Int8Convolution<float>&);
template void ConvolveInt8<int8_t>(const Int8Convolution<int8_t>&);
template void ConvolveInt8<uint8_t>(const Int8Convolution<uint8_t>&);

}  // namespace chainerx::native::CHAINERX_ISA
