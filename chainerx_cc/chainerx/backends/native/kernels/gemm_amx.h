#pragma once

// Products of bfloat16 by AMX, whose registers are tiles of up to 16 rows of 64 bytes. All but its instructions
// (Tiles), and the vectors that pack and round (Memory), is plain C++, so that tests run it on any processor.

#include <cstdint>

#include "chainerx/backends/native/kernels/gemm_bf16.h"

namespace chainerx::native {

constexpr int kAmxRows = 16;   // of a tile; columns of a tile of sums
constexpr int kAmxBlock = 32;  // rows, and columns, of the sums in all four tiles

// What the instruction LDTILECFG reads. A tile without rows does not exist.
struct alignas(64) AmxConfig {
    uint8_t palette;
    uint8_t start_row;
    uint8_t reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
static_assert(sizeof(AmxConfig) == 64);

// Tile 2 i + j sums products of tile 4 + i, of rows of A, and tile 6 + j, of columns of B. The first tile of A has up
// to 16 of the rows, the second one the rest.
CHAINERX_INLINE AmxConfig MakeAmxConfig(int rows) {
    AmxConfig config{};
    config.palette = 1;
    int first = rows < kAmxRows ? rows : kAmxRows;
    const int tile_rows[] = {first, first, rows - first, rows - first, first, rows - first, kAmxRows, kAmxRows};
    for (int i = 0; i < 8; ++i) {
        config.rows[i] = static_cast<uint8_t>(tile_rows[i]);
        config.row_bytes[i] = tile_rows[i] > 0 ? 64 : 0;
    }
    return config;
}

// Panels of 32 columns, the last one of the rest.
class AmxPanels {
public:
    CHAINERX_INLINE explicit AmxPanels(int64_t columns) : columns_{columns} {}
    CHAINERX_INLINE int64_t count() const { return (columns_ + kAmxBlock - 1) / kAmxBlock; }
    CHAINERX_INLINE int64_t Column(int64_t panel) const { return panel * kAmxBlock; }
    CHAINERX_INLINE int Columns(int64_t panel) const {
        int64_t rest = columns_ - Column(panel);
        return rest < kAmxBlock ? static_cast<int>(rest) : kAmxBlock;
    }

private:
    int64_t columns_;
};

// A kernel of PanelProduct (gemm_bf16_panels.h). Rows of A are filled up with zeros to a multiple of kAmxDepth
// elements, and panels [pairs of rows][16 or 32 columns][2] as well.
//
// Tiles executes instructions. Its destructor releases the tiles, which a thread must not keep.
// Memory::Pack(k, b, first, columns, width, panel) packs a panel, and
// Memory::Store(sums, columns, beta, c) rounds a row of sums.
template <class Tiles, class Memory>
struct AmxKernel {
    using Panels = AmxPanels;
    static constexpr int kColumns = kAmxBlock;

    static int64_t Step(int64_t) { return kAmxBlock; }
    static int64_t PanelSize(int64_t k) { return Depth(k) * kColumns; }

    static void Pack(int64_t k, const Bf16Matrix& b, int64_t first, int columns, uint16_t* panel) {
        int64_t width = Width(columns);
        Memory::Pack(k, b, first, columns, width, panel);
        int64_t end = Depth(k) * width;
        for (int64_t i = (k + 1) / 2 * 2 * width; i < end; ++i) panel[i] = 0;
    }

    static void Multiply(int64_t rows, int64_t /*step*/, int columns, int64_t k, const uint16_t* a, int64_t lda,
                         const uint16_t* panel, float beta, uint16_t* c, int64_t ldc) {
        Tiles tiles;
        alignas(64) float sums[kAmxBlock * kAmxBlock];
        for (int64_t row = 0; row < rows; row += kAmxBlock) {
            int count = rows - row < kAmxBlock ? static_cast<int>(rows - row) : kAmxBlock;
            if (row == 0 || count < kAmxBlock) tiles.Configure(MakeAmxConfig(count));
            Sum(tiles, count > kAmxRows, Width(columns), Depth(k), a + row * lda, lda, panel, sums);
            for (int r = 0; r < count; ++r) Memory::Store(sums + r * kAmxBlock, columns, beta, c + (row + r) * ldc);
        }
    }

private:
    static int64_t Depth(int64_t k) { return (k + kAmxDepth - 1) / kAmxDepth * kAmxDepth; }
    static int Width(int columns) { return columns > kAmxRows ? kAmxBlock : kAmxRows; }

    // The products of one or two tiles of rows with a panel.
    static void Sum(Tiles& tiles, bool has_rows, int64_t width, int64_t depth, const uint16_t* a, int64_t lda,
                    const uint16_t* panel, float* sums) {
        bool has_columns = width > kAmxRows;
        tiles.template Zero<0>();
        if (has_columns) tiles.template Zero<1>();
        if (has_rows) tiles.template Zero<2>();
        if (has_rows && has_columns) tiles.template Zero<3>();
        for (int64_t q = 0; q < depth; q += kAmxDepth, panel += kAmxDepth * width) {
            tiles.template Load<4>(a + q, lda * 2);
            tiles.template Load<6>(panel, width * 4);
            tiles.template Multiply<0, 4, 6>();
            if (has_columns) tiles.template Load<7>(panel + 2 * kAmxRows, width * 4);
            if (has_columns) tiles.template Multiply<1, 4, 7>();
            if (has_rows) tiles.template Load<5>(a + kAmxRows * lda + q, lda * 2);
            if (has_rows) tiles.template Multiply<2, 5, 6>();
            if (has_rows && has_columns) tiles.template Multiply<3, 5, 7>();
        }
        constexpr int64_t kRowBytes = kAmxBlock * 4;
        float* lower = sums + kAmxRows * kAmxBlock;
        tiles.template Store<0>(sums, kRowBytes);
        if (has_columns) tiles.template Store<1>(sums + kAmxRows, kRowBytes);
        if (has_rows) tiles.template Store<2>(lower, kRowBytes);
        if (has_rows && has_columns) tiles.template Store<3>(lower + kAmxRows, kRowBytes);
    }
};

}  // namespace chainerx::native
