#pragma once

// The gradient of a convolution with respect to the weights by Winograd's algorithm (winograd.h). For *_isa.cc sources
// only.

#include <cstdint>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/backends/native/kernels/winograd.h"

namespace chainerx::native::CHAINERX_ISA {

// Writes gw (rows, channels, 3, 3) for columns of `window` over `batch` images of x and gy, whose channels follow each
// other: the sum over tiles of the products of 4x4 elements of gy and 6x6 of x.
template <class T>
void WinogradWeights(const Window& window, int64_t batch, const T* x, int64_t x_image, int64_t channels, const T* gy,
                     int64_t gy_image, int64_t rows, T* gw) {
    constexpr int kLanes = Simd<T>::kSize;
    constexpr int kColumns = kTileColumns<T>;
    constexpr int64_t kCache = int64_t{4} << 20;  // bytes of transformed tiles at a time
    WinogradTiles tiles{window, batch};
    TileSource<T> images{x, x_image, window.image[0], window.image[1], window.offsets[0], window.offsets[1]};
    TileSource<T> grads{gy, gy_image, tiles.height(), tiles.width(), 0, 0};
    int64_t most = kCache / static_cast<int64_t>(sizeof(T)) / (kWinogradProducts * (rows + channels));
    int64_t chunk = most > kColumns ? most / kColumns * kColumns : kColumns;
    chunk = chunk < tiles.count() ? chunk : (tiles.count() + kLanes - 1) / kLanes * kLanes;
    int64_t pitch = chunk + kWinogradPadding<T>;
    Scratch<T> x_tiles{kWinogradProducts * channels * pitch};  // [product][channel][tile]
    Scratch<T> gy_tiles{kWinogradProducts * rows * pitch};
    int64_t width = (channels + kLanes - 1) / kLanes * kLanes;
    Scratch<T> products{kWinogradProducts * rows * width};
    for (int64_t first = 0; first < tiles.count(); first += chunk) {
        int64_t count = tiles.count() - first < chunk ? tiles.count() - first : chunk;
        // In parallel over channels of both
        ParallelFor(channels + rows, 8, [&](int64_t begin, int64_t end) {
            for (int64_t start = 0; start < count; start += kColumns) {
                int lanes = static_cast<int>(count - start < kColumns ? count - start : kColumns);
                if (begin < channels) {
                    TileSource<T> source = images;
                    source.data += begin * source.height * source.width;
                    TransformTiles<T, 6>(
                            tiles, source, (end < channels ? end : channels) - begin, first + start, lanes,
                            x_tiles.data() + begin * pitch + start, channels * pitch, pitch,
                            [](const auto& x, auto& out) __attribute__((always_inline)) { TransformImage(x, out); });
                }
                if (end > channels) {
                    int64_t row = begin > channels ? begin - channels : 0;
                    TileSource<T> source = grads;
                    source.data += row * source.height * source.width;
                    TransformTiles<T, 4>(
                            tiles, source, end - channels - row, first + start, lanes,
                            gy_tiles.data() + row * pitch + start, rows * pitch, pitch,
                            [](const auto& x, auto& out)
                                    __attribute__((always_inline)) { TransformFilter<T>(x, out); });
                }
            }
        });
        GemmBatched<T>(false, true, kWinogradProducts, rows, channels, count, T{1}, gy_tiles.data(), pitch,
                       rows * pitch, x_tiles.data(), pitch, channels * pitch, first == 0 ? T{0} : T{1}, products.data(),
                       width, rows * width);
    }
    ParallelFor(rows, 1 + 4096 / width, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
            for (int64_t c = 0; c < channels; c += kLanes) {
                Vec<T> in[6][6];
                Vec<T> out[3][3];
                for (int e = 0; e < kWinogradProducts; ++e) {
                    in[e / 6][e % 6] = Load(products.data() + (e * rows + r) * width + c);
                }
                TransformBoth(
                        in, out,
                        [](const auto& x, auto& out) __attribute__((always_inline)) { TransformOutput(x, out); });
                T* to = gw + (r * channels + c) * 9;
                for (int lane = 0; lane < kLanes && c + lane < channels; ++lane, to += 9) {
                    for (int t = 0; t < 9; ++t) to[t] = out[t / 3][t % 3][lane];
                }
            }
        }
    });
}

}  // namespace chainerx::native::CHAINERX_ISA
