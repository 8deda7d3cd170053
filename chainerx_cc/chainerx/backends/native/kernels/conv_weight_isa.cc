// The gradient of a convolution with respect to the weights: gw (m x (channel, tap)) = gy (m x columns) times the
// transposed implicit im2col matrix, summed over images. Packing transposes both factors.

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/conv.h"
#include "chainerx/backends/native/kernels/conv_sliding.h"
#include "chainerx/backends/native/kernels/conv_weight_winograd.h"
#include "chainerx/backends/native/kernels/conv_window.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/tile.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

template <class T>
struct Problem {
    Window window;
    int64_t batch;
    int64_t rows;      // output channels of the group
    int64_t channels;  // input channels of the group
    const T* x;
    int64_t x_image;  // distance of images
    const T* gy;
    int64_t gy_image;
    int64_t columns;  // output positions of an image
};

// gw[:, j_begin:j_end] (+)= over images [n_begin, n_end); gw has rows of channels * taps.
template <class T>
void MultiplyBlock(const Problem<T>& p, int64_t j_begin, int64_t j_end, int64_t n_begin, int64_t n_end, T* gw) {
    constexpr int kSize = Simd<T>::kSize;
    constexpr int kColumns = kTileColumns<T>;
    constexpr int64_t kDepth = 256;  // output positions of one packed block; a multiple of kSize
    int64_t taps = p.window.taps;
    int64_t width = p.channels * taps;
    int64_t image_size = SpatialSize(p.window.image, p.window.ndim);
    int64_t panel_rows = PanelRows(p.rows);
    int64_t j_panels = (j_end - j_begin + kColumns - 1) / kColumns;
    // gy as [panel][position][rows], with room after each panel for what PackRows writes too much
    int64_t panel_size = panel_rows * kDepth + kSize;
    Scratch<T> a{(p.rows + panel_rows - 1) / panel_rows * panel_size};
    Scratch<T> b{j_panels * kColumns * kDepth};  // x as [panel][position][kColumns]
    VectorPlan<T> plan{};
    Scratch<Run> runs{plan.MaxRuns(p.window)};
    bool first = true;
    int64_t depth = 0;  // positions packed so far, possibly of several small images
    auto multiply = [&] {
        for (int64_t m = 0; m < p.rows; m += panel_rows) {
            int64_t rows = p.rows - m < panel_rows ? p.rows - m : panel_rows;
            for (int64_t panel = 0; panel < j_panels; ++panel) {
                int64_t j = j_begin + panel * kColumns;
                TileOutput<T> out{};
                out.c = gw + m * width + j;
                out.row = width;
                out.columns = static_cast<int>(j_end - j < kColumns ? j_end - j : kColumns);
                out.accumulate = !first;
                ChooseTile<T, PackedTile>(rows, out.vectors())(depth, a.data() + m / panel_rows * panel_size,
                                                               b.data() + panel * kColumns * kDepth, out);
            }
        }
        first = false;
        depth = 0;
    };
    for (int64_t n = n_begin; n < n_end; ++n) {
        const T* x = p.x + n * p.x_image;
        const T* gy = p.gy + n * p.gy_image;
        for (int64_t column = 0; column < p.columns;) {
            int64_t count = p.columns - column < kDepth - depth ? p.columns - column : kDepth - depth;
            for (int64_t m = 0; m < p.rows; m += panel_rows) {
                int64_t rows = p.rows - m < panel_rows ? p.rows - m : panel_rows;
                T* out = a.data() + m / panel_rows * panel_size + depth * rows;
                PackRows(rows, count, gy + m * p.columns + column, p.columns, out);
            }
            for (int64_t i = 0; i < count; i += kSize) {
                int lanes = static_cast<int>(count - i < kSize ? count - i : kSize);
                plan.Make(p.window, column + i, lanes, runs.data());
                int64_t c = j_begin / taps;
                int64_t t = j_begin % taps;
                for (int64_t j = j_begin; j < j_end; j += kSize) {
                    Vec<T> block[kSize] = {};
                    int valid = static_cast<int>(j_end - j < kSize ? j_end - j : kSize);
                    for (int r = 0; r < valid; ++r) {
                        block[r] = plan.Read(x + c * image_size, t);
                        if (++t == taps) {
                            t = 0;
                            ++c;
                        }
                    }
                    Transpose<T>(block);
                    int64_t local = j - j_begin;
                    T* out =
                            b.data() + local / kColumns * kColumns * kDepth + local % kColumns + (depth + i) * kColumns;
                    if (lanes == kSize) {
#pragma GCC unroll 16
                        for (int r = 0; r < kSize; ++r) {
                            Store(out + r * kColumns, block[r]);
                        }
                    } else {
                        for (int r = 0; r < lanes; ++r) {
                            Store(out + r * kColumns, block[r]);
                        }
                    }
                }
            }
            column += count;
            depth += count;
            if (depth == kDepth) {
                multiply();
            }
        }
    }
    if (depth > 0) {
        multiply();
    }
}

// The same for few rows, as in depthwise convolution, where tiles would be mostly empty: sums of products of
// vectors of gy and x.
template <class T>
void MultiplyFewRows(const Problem<T>& p, T* gw) {
    constexpr int kSize = Simd<T>::kSize;
    int64_t taps = p.window.taps;
    int64_t width = p.channels * taps;
    int64_t image_size = SpatialSize(p.window.image, p.window.ndim);
    Scratch<T> sums{p.rows * width * kSize};
    for (int64_t i = 0; i < p.rows * width * kSize; ++i) {
        sums.data()[i] = T{0};
    }
    VectorPlan<T> plan{};
    Scratch<Run> runs{plan.MaxRuns(p.window)};
    for (int64_t column = 0; column < p.columns; column += kSize) {
        int count = static_cast<int>(p.columns - column < kSize ? p.columns - column : kSize);
        plan.Make(p.window, column, count, runs.data());
        for (int64_t n = 0; n < p.batch; ++n) {
            for (int64_t m = 0; m < p.rows; ++m) {
                const T* gy = p.gy + n * p.gy_image + m * p.columns + column;
                Vec<T> g = count == kSize ? Load(gy) : LoadPartial(gy, count);
                T* sum = sums.data() + m * width * kSize;
                for (int64_t c = 0; c < p.channels; ++c) {
                    const T* image = p.x + n * p.x_image + c * image_size;
                    for (int64_t t = 0; t < taps; ++t, sum += kSize) {
                        Store(sum, Load(sum) + g * plan.Read(image, t));
                    }
                }
            }
        }
    }
    for (int64_t i = 0; i < p.rows * width; ++i) {
        gw[i] = Sum<T>(Load(sums.data() + i * kSize));
    }
}

#if defined(__AVX512F__)
// First layers: with a 3x3 window of stride one and few channels, packing would take longer than the product.
// Multiplies vectors of columns of gy and x instead; the sums for each tap and kSumRows rows fit 32 registers.
constexpr int kSumRows = 3;
constexpr int64_t kSumChannels = 8;

// gw of kRows rows from images [n, n_end), whose rows are in `copy`.
template <class T, int kRows>
void SumTaps(const Problem<T>& p, const SlidingRows<T, 1>& sliding, int64_t n, int64_t n_end, const T* copy,
             const T* gy, T* gw) {
    int64_t rows = p.window.columns[0];
    int64_t width = p.window.columns[1];
    int64_t pitch = sliding.pitch();
    for (int64_t c = 0; c < p.channels; ++c) {
        Vec<T> sums[kRows][9] = {};
        for (int64_t image = n; image < n_end; ++image) {
            const T* x = copy + ((image - n) * p.channels + c) * sliding.CountRows(0, rows) * pitch;
            const T* g = gy + image * p.gy_image;
            for (int64_t y = 0; y < rows; ++y, x += pitch, g += width) {
                for (int64_t i = 0; i < width; i += Simd<T>::kSize) {
                    Vec<T> gv[kRows];
#pragma GCC unroll 4
                    for (int r = 0; r < kRows; ++r) {
                        gv[r] = Load(g + r * p.columns + i);
                    }
#pragma GCC unroll 9
                    for (int t = 0; t < 9; ++t) {
                        Vec<T> xv = Load(x + t / 3 * pitch + i + t % 3);
#pragma GCC unroll 4
                        for (int r = 0; r < kRows; ++r) {
                            sums[r][t] += gv[r] * xv;
                        }
                    }
                }
            }
        }
        for (int r = 0; r < kRows; ++r) {
            T* out = gw + (r * p.channels + c) * 9;
            for (int t = 0; t < 9; ++t) {
                T sum = Sum<T>(sums[r][t]);
                out[t] = n == 0 ? sum : out[t] + sum;
            }
        }
    }
}

// Returns false if the problem is not of this kind.
template <class T>
bool MultiplyFirstLayer(const Problem<T>& p, T* gw) {
    if (p.window.taps != 9 || p.channels > kSumChannels || p.window.stride[0] != 1 || p.window.stride[1] != 1 ||
        !FitsSliding<T>(p.window)) {
        return false;
    }
    SlidingRows<T, 1> sliding{p.window};
    for (int t = 0; t < 9; ++t) {
        if (sliding.offsets()[t] != t / 3 * sliding.pitch() + t % 3) {
            return false;
        }
    }
    int64_t rows = p.window.columns[0];
    int64_t image_size = SpatialSize(p.window.image, 2);
    int64_t plane = sliding.CountRows(0, rows) * sliding.pitch();
    // Some images at a time, so that their copy fits the cache and sums stay short.
    constexpr int64_t kCopied = 1 << 16;
    constexpr int64_t kTerms = 1 << 13;
    int64_t images = kCopied / (plane * p.channels);
    images = images > kTerms / p.columns ? kTerms / p.columns : images;
    images = images < 1 ? 1 : images;
    int64_t groups = (p.rows + kSumRows - 1) / kSumRows;
    int64_t work = kSumRows * p.channels * p.batch * p.columns * 9;
    ParallelFor(groups, 1 + (int64_t{1} << 18) / (work + 1), [&](int64_t begin, int64_t end) {
        Scratch<T> copy{images * p.channels * plane + Simd<T>::kSize};
        for (int64_t n = 0; n < p.batch; n += images) {
            int64_t n_end = n + images < p.batch ? n + images : p.batch;
            for (int64_t image = n; image < n_end; ++image) {
                for (int64_t c = 0; c < p.channels; ++c) {
                    sliding.Copy(p.x + image * p.x_image + c * image_size, 0, rows,
                                 copy.data() + ((image - n) * p.channels + c) * plane);
                }
            }
            for (int64_t m = begin * kSumRows; m < end * kSumRows && m < p.rows; m += kSumRows) {
                int64_t left = p.rows - m;
                auto sum = left >= 3 ? SumTaps<T, 3> : (left == 2 ? SumTaps<T, 2> : SumTaps<T, 1>);
                sum(p, sliding, n, n_end, copy.data(), p.gy + m * p.columns, gw + m * p.channels * 9);
            }
        }
    });
    return true;
}
#endif

template <class T>
void Multiply(const Problem<T>& p, T* gw) {
    constexpr int kColumns = kTileColumns<T>;
    int64_t width = p.channels * p.window.taps;
#if defined(__AVX512F__)
    if (MultiplyFirstLayer(p, gw)) {
        return;
    }
#endif
    if (p.rows <= 2 && width <= 64) {
        MultiplyFewRows(p, gw);
        return;
    }
    if (WinogradTiles::Fits(p.window, p.batch, p.rows, p.channels)) {
        WinogradWeights(p.window, p.batch, p.x, p.x_image, p.channels, p.gy, p.gy_image, p.rows, gw);
        return;
    }
    int64_t threads = InParallelRegion() ? 1 : GetNumThreads();
    double work = static_cast<double>(p.rows) * static_cast<double>(width) * static_cast<double>(p.batch * p.columns);
    if (work < 1 << 19) {
        threads = 1;
    }
    // Blocks of columns of gw, each about 256 KB of packed x or less.
    int64_t panels = (width + kColumns - 1) / kColumns;
    int64_t block = panels / threads;
    block = block > 8 ? 8 : (block < 1 ? 1 : block);
    int64_t blocks = (panels + block - 1) / block;
    // Few panels give few threads work, so parts of the images have their own sums. How many depends on the shape
    // alone: the number of threads must not change a bit.
    constexpr int64_t kParts = 16;
    auto most_splits = static_cast<int64_t>(work / (1 << 18));
    int64_t splits = kParts / panels < most_splits ? kParts / panels : most_splits;
    splits = splits > p.batch ? p.batch : splits;
    splits = splits < 1 ? 1 : splits;
    Scratch<T> partial{(splits - 1) * p.rows * width};
    auto run = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            int64_t split = i % splits;
            int64_t j_begin = i / splits * block * kColumns;
            int64_t j_end = j_begin + block * kColumns < width ? j_begin + block * kColumns : width;
            T* out = split == 0 ? gw : partial.data() + (split - 1) * p.rows * width;
            MultiplyBlock(p, j_begin, j_end, p.batch * split / splits, p.batch * (split + 1) / splits, out);
        }
    };
    if (threads == 1) {
        run(0, blocks * splits);
    } else {
        ParallelFor(blocks * splits, 1, run);
    }
    for (int64_t split = 1; split < splits; ++split) {
        const T* from = partial.data() + (split - 1) * p.rows * width;
        for (int64_t i = 0; i < p.rows * width; ++i) {
            gw[i] += from[i];
        }
    }
}

}  // namespace

template <class T>
void ConvBackwardWeight(const ConvShape& shape, const T* x, const T* gy, T* gw) {
    ConvShape s = shape;
    if (s.ndim == 0) {
        s.ndim = 1;
        s.in[0] = s.kernel[0] = s.out[0] = s.stride[0] = s.dilation[0] = 1;
        s.pad[0] = 0;
    }
    int64_t taps = SpatialSize(s.kernel, s.ndim);
    int64_t in_size = SpatialSize(s.in, s.ndim);
    int64_t out_size = SpatialSize(s.out, s.ndim);
    int64_t in_group = s.in_channels / s.groups;
    int64_t out_group = s.out_channels / s.groups;
    if (s.batch * in_group * in_size * out_group * out_size == 0) {
        for (int64_t i = 0; i < s.out_channels * in_group * taps; ++i) {
            gw[i] = T{0};
        }
        return;
    }
    Scratch<int64_t> offsets{taps * s.ndim};
    for (int64_t t = 0; t < taps; ++t) {
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
    p.gy_image = s.out_channels * out_size;
    p.columns = out_size;
    ParallelFor(s.groups, 1, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
            Problem<T> group = p;
            group.x = x + g * in_group * in_size;
            group.gy = gy + g * out_group * out_size;
            Multiply(group, gw + g * out_group * in_group * taps);
        }
    });
}

template void ConvBackwardWeight<float>(const ConvShape&, const float*, const float*, float*);
template void ConvBackwardWeight<double>(const ConvShape&, const double*, const double*, double*);

}  // namespace chainerx::native::CHAINERX_ISA
