#include "chainerx/backends/native/kernels/isa.h"

#include <cstdlib>
#include <cstring>

namespace chainerx::native {
namespace {

Isa Detect() {
    Isa isa = Isa::kBase;
#if CHAINERX_ISA_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        isa = Isa::kV3;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl")) {
            isa = Isa::kV4;
        }
    }
    if (const char* name = std::getenv("CHAINERX_ISA")) {
        if (std::strcmp(name, "base") == 0) {
            isa = Isa::kBase;
        } else if (std::strcmp(name, "v3") == 0 && isa == Isa::kV4) {
            isa = Isa::kV3;
        }
    }
#endif
    return isa;
}

}  // namespace

Isa GetIsa() {
    static const Isa isa = Detect();
    return isa;
}

}  // namespace chainerx::native
