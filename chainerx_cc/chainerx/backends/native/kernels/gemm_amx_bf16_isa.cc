// Products of bfloat16 by AMX.

#include "chainerx/backends/native/kernels/gemm_amx.h"
#include "chainerx/backends/native/kernels/gemm_bf16_pack.h"
#include "chainerx/backends/native/kernels/gemm_bf16_panels.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

// The tiles of the processor. The intrinsics of GCC do not tell the compiler what memory tiles are loaded from, nor
// that of a configuration more than a pointer is read, so stores before them may move behind them.
class ProcessorTiles {
public:
    CHAINERX_INLINE ProcessorTiles() = default;
    CHAINERX_INLINE ~ProcessorTiles() { __asm__ volatile("tilerelease"); }
    ProcessorTiles(const ProcessorTiles&) = delete;
    ProcessorTiles& operator=(const ProcessorTiles&) = delete;

    CHAINERX_INLINE void Configure(const AmxConfig& config) { __asm__ volatile("ldtilecfg %0" ::"m"(config)); }

    template <int kTile>
    CHAINERX_INLINE void Zero() {
        __asm__ volatile("tilezero %%tmm%c0" ::"i"(kTile));
    }
    template <int kTile>
    CHAINERX_INLINE void Load(const uint16_t* from, int64_t row_bytes) {
        __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(kTile), "r"(from), "r"(row_bytes) : "memory");
    }
    template <int kTile>
    CHAINERX_INLINE void Store(float* to, int64_t row_bytes) {
        __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(kTile), "r"(to), "r"(row_bytes) : "memory");
    }
    template <int kSums, int kRows, int kColumns>
    CHAINERX_INLINE void Multiply() {
        __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kRows), "i"(kColumns));
    }
};

struct Vectors512 {
    static void Pack(int64_t k, const Bf16Matrix& b, int64_t first, int columns, int64_t width, uint16_t* panel) {
        PackPanel(k, b, first, columns, width, panel);
    }
    static void Store(const float* sums, int columns, float beta, uint16_t* c) {
        StoreRounded(_mm512_load_ps(sums), columns, beta, c);
        if (columns > kLanes) StoreRounded(_mm512_load_ps(sums + kLanes), columns - kLanes, beta, c + kLanes);
    }
};

}  // namespace

void MultiplyAmxBf16(int64_t m, int64_t n, int64_t k, const uint16_t* a, int64_t lda, const Bf16Matrix& b, float beta,
                     uint16_t* c, int64_t ldc) {
    PanelProduct<AmxKernel<ProcessorTiles, Vectors512>>{m, n, k, a, lda, b, beta, c, ldc}.Run();
}

}  // namespace chainerx::native::CHAINERX_ISA
