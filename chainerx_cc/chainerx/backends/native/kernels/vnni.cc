#include "chainerx/backends/native/kernels/vnni.h"

#include <cstdlib>
#include <cstring>

namespace chainerx::native {
namespace {

bool Detect() {
#if CHAINERX_ISA_X86
    __builtin_cpu_init();
    const char* name = std::getenv("CHAINERX_ISA");
    bool is_lowered = name != nullptr && std::strcmp(name, "v4") == 0;
    return GetIsa() == Isa::kV4 && !is_lowered && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

}  // namespace

bool HasVnni() {
    static const bool has_vnni = Detect();
    return has_vnni;
}

}  // namespace chainerx::native
