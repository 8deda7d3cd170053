#include "chainerx/backends/native/kernels/gemm_bf16.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/thread_pool.h"

namespace chainerx::native {

#if CHAINERX_ISA_X86

namespace {

constexpr int64_t kFewRows = 8;  // up to which a product that packs B is slower

// Whether tiles are mostly full. Sizes of the whole product decide, so threads do not change bits.
bool FillsTiles(int64_t m, int64_t n, int64_t k) { return m >= 16 && n >= 16 && k >= kAmxDepth; }

}  // namespace

bool HasBf16() {
    static const bool has_bf16 = [] {
        __builtin_cpu_init();
        const char* name = std::getenv("CHAINERX_ISA");
        bool is_lowered = name != nullptr && std::strcmp(name, "v4") == 0;
        return GetIsa() == Isa::kV4 && !is_lowered && __builtin_cpu_supports("avx512bf16");
    }();
    return has_bf16;
}

void GemmBf16(int64_t m, int64_t n, int64_t k, const Bf16Matrix& a, const Bf16Matrix& b, float beta, uint16_t* c,
              int64_t ldc) {
    if (m <= 0 || n <= 0) return;
    bool is_few = m <= kFewRows;
    Bf16Product amx = FillsTiles(m, n, k) ? GetAmxProduct() : nullptr;
    int64_t multiple = amx ? kAmxDepth : 2;
    bool is_ready = !a.trans && (is_few || k % multiple == 0);
    int64_t width = is_ready ? a.ld : (k + multiple - 1) / multiple * multiple;
    Scratch<uint16_t> packed_rows{is_ready ? 0 : m * width};
    if (!is_ready) bf16::PackBf16Rows(m, k, a, width, packed_rows.data());
    const uint16_t* rows = is_ready ? a.data : packed_rows.data();
    Bf16Product multiply = is_few ? bf16::MultiplyFewBf16 : amx ? amx : bf16::MultiplyBf16;
    multiply(m, n, k, rows, width, b, beta, c, ldc);
}

#else

bool HasBf16() { return false; }

void GemmBf16(int64_t, int64_t, int64_t, const Bf16Matrix&, const Bf16Matrix&, float, uint16_t*, int64_t) {}

#endif

void GemmBf16Batched(int64_t batch, int64_t m, int64_t n, int64_t k, const Bf16Matrix& a, int64_t stride_a,
                     const Bf16Matrix& b, int64_t stride_b, float beta, uint16_t* c, int64_t ldc, int64_t stride_c) {
    if (!a.trans && stride_b == 0 && stride_a == m * a.ld && stride_c == m * ldc) {
        GemmBf16(batch * m, n, k, a, b, beta, c, ldc);
        return;
    }
    auto run = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            GemmBf16(m, n, k, {a.trans, a.data + i * stride_a, a.ld}, {b.trans, b.data + i * stride_b, b.ld}, beta,
                     c + i * stride_c, ldc);
        }
    };
    if (batch >= GetNumThreads()) {
        constexpr int64_t kMinWork = 1 << 15;
        ParallelFor(batch, std::max<int64_t>(1, kMinWork / std::max<int64_t>(1, m * n * k)), run);
    } else {
        run(0, batch);  // each product runs in parallel
    }
}

}  // namespace chainerx::native
