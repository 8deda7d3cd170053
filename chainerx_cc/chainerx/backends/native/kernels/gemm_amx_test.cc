#include "chainerx/backends/native/kernels/gemm_amx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "chainerx/backends/native/kernels/gemm_bf16_panels.h"
#include "chainerx/backends/native/kernels/half.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {
namespace {

// The instructions take denormal numbers for zeros, and make zeros of them.
float Flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v; }
float AddProduct(float sum, uint16_t a, uint16_t b) {
    return Flush(std::fma(Flush(Bfloat16ToFloat(a)), Flush(Bfloat16ToFloat(b)), sum));
}

void Require(bool condition, const char* rule) {
    if (!condition) throw std::logic_error{rule};
}

constexpr uint16_t kInfinity = 0x7f80;

const uint16_t* end_of_a = nullptr;  // which rows must not cross, if set

// The instructions of AMX as the manual of Intel describes them, with its faults as exceptions.
class SoftTiles {
public:
    void Configure(const AmxConfig& config) {
        Require(config.palette == 1 && config.start_row == 0, "palette");
        for (uint8_t byte : config.reserved) Require(byte == 0, "reserved");
        for (int i = 0; i < 16; ++i) {
            Require(config.rows[i] <= 16 && config.row_bytes[i] <= 64, "size");
            Require((config.rows[i] == 0) == (config.row_bytes[i] == 0), "half a size");
            Require(i < 8 || config.rows[i] == 0, "number of tiles");
        }
        config_ = config;
        std::memset(tiles_, 0, sizeof(tiles_));
    }

    template <int kTile>
    void Zero() {
        Check(kTile);
        std::memset(tiles_[kTile], 0, sizeof(tiles_[kTile]));
    }

    template <int kTile>
    void Load(const uint16_t* from, int64_t row_bytes) {
        Zero<kTile>();
        const uint16_t* end = from + (config_.rows[kTile] - 1) * row_bytes / 2 + config_.row_bytes[kTile] / 2;
        Require(end_of_a == nullptr || kTile > 5 || end <= end_of_a, "read past the end of A");
        for (int r = 0; r < config_.rows[kTile]; ++r) {
            std::memcpy(tiles_[kTile][r], reinterpret_cast<const char*>(from) + r * row_bytes,
                        config_.row_bytes[kTile]);
        }
    }

    template <int kTile>
    void Store(float* to, int64_t row_bytes) {
        Check(kTile);
        for (int r = 0; r < config_.rows[kTile]; ++r) {
            std::memcpy(reinterpret_cast<char*>(to) + r * row_bytes, tiles_[kTile][r], config_.row_bytes[kTile]);
        }
    }

    // TDPBF16PS
    template <int kSums, int kRows, int kColumns>
    void Multiply() {
        for (int tile : {kSums, kRows, kColumns}) Check(tile);
        Require(kSums != kRows && kSums != kColumns && kRows != kColumns, "same tile");
        Require(config_.rows[kSums] == config_.rows[kRows], "rows");
        Require(config_.row_bytes[kSums] == config_.row_bytes[kColumns], "columns");
        Require(config_.row_bytes[kRows] == 4 * config_.rows[kColumns], "pairs");
        for (int m = 0; m < config_.rows[kSums]; ++m) {
            float sums[32] = {};  // of even and of odd elements
            for (int k = 0; k < config_.row_bytes[kRows] / 4; ++k) {
                for (int n = 0; n < config_.row_bytes[kSums] / 2; ++n) {
                    sums[n] = AddProduct(sums[n], Element(kRows, m, 2 * k + n % 2), Element(kColumns, k, n));
                }
            }
            for (int n = 0; n < config_.row_bytes[kSums] / 4; ++n) {
                float sum;
                std::memcpy(&sum, tiles_[kSums][m] + 4 * n, 4);
                sum = Flush(sum + Flush(sums[2 * n] + sums[2 * n + 1]));
                std::memcpy(tiles_[kSums][m] + 4 * n, &sum, 4);
            }
        }
    }

private:
    void Check(int tile) const { Require(config_.rows[tile] > 0, "no such tile"); }
    uint16_t Element(int tile, int row, int i) const {
        uint16_t element;
        std::memcpy(&element, tiles_[tile][row] + 2 * i, 2);
        return element;
    }

    AmxConfig config_{};
    char tiles_[8][16][64];
};

uint16_t Round(float sum, float beta, uint16_t c) {
    if (beta != 0) sum = std::fma(beta, Bfloat16ToFloat(c), sum);
    return FloatToBfloat16(Flush(sum));
}

// The layout of PackPanel, in memory that is not zero
struct PlainMemory {
    static void Pack(int64_t k, const Bf16Matrix& b, int64_t first, int columns, int64_t width, uint16_t* panel) {
        std::fill_n(panel, (k + kAmxDepth - 1) / kAmxDepth * kAmxDepth * width, kInfinity);
        for (int64_t p = 0; p < (k + 1) / 2 * 2; ++p) {
            for (int64_t i = 0; i < width; ++i) {
                bool is_filled = p < k && i < columns;
                int64_t at = b.trans ? (first + i) * b.ld + p : p * b.ld + first + i;
                panel[(p / 2 * width + i) * 2 + p % 2] = is_filled ? b.data[at] : 0;
            }
        }
    }
    static void Store(const float* sums, int columns, float beta, uint16_t* c) {
        for (int i = 0; i < columns; ++i) c[i] = Round(sums[i], beta, c[i]);
    }
};

void MultiplySoftTiles(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                       uint16_t* c, int64_t ldc) {
    PanelProduct<AmxKernel<SoftTiles, PlainMemory>>{m, n, k, a, lda, b, beta, c, ldc}.Run();
}

// Element by element, in the order of sums of the instruction: those of 32 products, even ones and odd ones apart.
void MultiplyInOrder(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc) {
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (int64_t q = 0; q < k; q += kAmxDepth) {
                float sums[2] = {};
                for (int64_t p = q; p < q + kAmxDepth && p < k; ++p) {
                    uint16_t factor = b.data[b.trans ? j * b.ld + p : p * b.ld + j];
                    sums[p % 2] = AddProduct(sums[p % 2], a[i * lda + p], factor);
                }
                sum = Flush(sum + Flush(sums[0] + sums[1]));
            }
            c[i * ldc + j] = Round(sum, beta, c[i * ldc + j]);
        }
    }
}

// Products in software, and those of the processor if it has AMX
std::vector<Bf16Product> Products() {
    std::vector<Bf16Product> products{MultiplySoftTiles};
    if (Bf16Product product = GetAmxProduct()) products.push_back(product);
    return products;
}

std::vector<uint16_t> Draw(std::mt19937* random, int64_t n) {
    std::uniform_real_distribution<float> distribution{-1, 1};
    std::vector<uint16_t> values(n);
    for (uint16_t& v : values) v = FloatToBfloat16(distribution(*random));
    return values;
}

// What lies around the matrices is infinite, to show if it is read, and stays as it is.
void ExpectExact(int64_t m, int64_t n, int64_t k, bool trans, float beta) {
    constexpr int64_t kGap = 3;
    std::mt19937 random{static_cast<unsigned>(m * 1000003 + n * 1009 + k)};
    int64_t width = (k + kAmxDepth - 1) / kAmxDepth * kAmxDepth;
    int64_t lda = width + kGap;
    int64_t ldb = (trans ? k : n) + kGap;
    int64_t ldc = n + kGap;
    std::vector<uint16_t> a = Draw(&random, m * lda);
    std::vector<uint16_t> b = Draw(&random, (trans ? n : k) * ldb);
    std::vector<uint16_t> c = Draw(&random, m * ldc);
    a[0] = 1;  // denormal
    for (int64_t i = 0; i < m * lda; ++i) {
        if (i % lda >= k) a[i] = i % lda < width ? 0 : kInfinity;
    }
    for (int64_t i = 0; i < static_cast<int64_t>(b.size()); ++i) {
        if (i % ldb >= ldb - kGap) b[i] = kInfinity;
    }
    a.resize(m * lda - kGap);
    b.resize(b.size() - kGap);
    c.resize(m * ldc - kGap);
    end_of_a = a.data() + a.size();
    std::vector<uint16_t> expected = c;
    MultiplyInOrder(m, n, k, a.data(), lda, {trans, b.data(), ldb}, beta, expected.data(), ldc);
    for (Bf16Product product : Products()) {
        std::vector<uint16_t> actual = c;
        product(m, n, k, a.data(), lda, {trans, b.data(), ldb}, beta, actual.data(), ldc);
        ASSERT_EQ(expected, actual) << m << " x " << n << " x " << k << ", beta " << beta;
    }
    end_of_a = nullptr;
}

TEST(GemmAmxBf16Test, SumsInTheOrderOfTheInstruction) {
    for (int64_t m : {1, 2, 15, 16, 17, 31, 32, 33, 48, 65, 70}) {
        for (int64_t n : {1, 16, 17, 32, 33, 49, 70}) {
            for (int64_t k : {1, 2, 31, 32, 33, 64, 70}) ExpectExact(m, n, k, (m + n + k) % 2 == 0, k % 3 == 0 ? 1 : 0);
        }
    }
}

TEST(GemmAmxBf16Test, ThreadsDoNotChangeBits) {
    int original = GetNumThreads();
    for (int threads : {1, 3}) {
        SetNumThreads(threads);
        ExpectExact(200, 40, 2100, false, 0.5F);  // rows in blocks
        ExpectExact(150, 70, 300, true, 0);       // rows in one block for one thread
    }
    SetNumThreads(original);
}

TEST(GemmAmxBf16Test, BadConfigurationsFail) {
    void (*const faults[])(AmxConfig*) = {
            [](AmxConfig* c) { c->palette = 0; },      [](AmxConfig* c) { c->start_row = 1; },
            [](AmxConfig* c) { c->reserved[13] = 1; }, [](AmxConfig* c) { c->rows[0] = 17; },
            [](AmxConfig* c) { c->rows[6] = 0; },      [](AmxConfig* c) { c->row_bytes[2] = 68; },
            [](AmxConfig* c) { c->row_bytes[4] = 0; }, [](AmxConfig* c) { c->rows[8] = c->row_bytes[8] = 1; }};
    for (auto fault : faults) {
        AmxConfig config = MakeAmxConfig(20);
        SoftTiles{}.Configure(config);
        fault(&config);
        EXPECT_THROW(SoftTiles{}.Configure(config), std::logic_error);
    }
    SoftTiles tiles;
    EXPECT_THROW(tiles.Zero<0>(), std::logic_error);
    tiles.Configure(MakeAmxConfig(16));  // has no second tile of rows
    EXPECT_THROW((tiles.Multiply<2, 5, 6>()), std::logic_error);
    tiles.Configure(MakeAmxConfig(20));
    EXPECT_THROW((tiles.Multiply<0, 5, 6>()), std::logic_error);
    EXPECT_THROW((tiles.Multiply<4, 4, 6>()), std::logic_error);
}

TEST(GemmAmxBf16Test, NeedsProcessorAndSystem) {
    constexpr uint32_t kInstructions = 0x1400000;
    constexpr uint32_t kTiles = 0x60000;
    EXPECT_TRUE(IsAmxEnabled(kInstructions | 1, kTiles | 0xe7));
    for (uint32_t bits : {0U, 1U << 22, 1U << 24, ~kInstructions}) EXPECT_FALSE(IsAmxEnabled(bits, kTiles));
    for (uint32_t bits : {0U, 1U << 17, 1U << 18, ~kTiles}) EXPECT_FALSE(IsAmxEnabled(kInstructions, bits));
    EXPECT_TRUE(GetAmxProduct() == nullptr || HasBf16());
}

TEST(GemmAmxBf16Test, FirstProductShowsFaults) {
    EXPECT_TRUE(AreEqualOnIntegers(MultiplySoftTiles, MultiplyInOrder));
    const Bf16Product faulty[] = {
            [](int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float, uint16_t* c,
               int64_t ldc) { MultiplyInOrder(m, n, k, a, lda, b, 0, c, ldc); },
            [](int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
               uint16_t* c, int64_t ldc) { MultiplyInOrder(m, n, k - 1, a, lda, b, beta, c, ldc); },
            [](int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
               uint16_t* c, int64_t ldc) { MultiplyInOrder(m - 1, n, k, a, lda, b, beta, c, ldc); },
            [](int64_t, int64_t, int64_t, const uint16_t*, int64_t, const Bf16Matrix&, float, uint16_t*, int64_t) {}};
    for (Bf16Product product : faulty) EXPECT_FALSE(AreEqualOnIntegers(product, MultiplyInOrder));
}

}  // namespace
}  // namespace chainerx::native
