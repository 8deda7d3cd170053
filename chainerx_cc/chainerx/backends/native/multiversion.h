#pragma once

// Functions compiled once per instruction set. `Body::Run` must be inlinable; it is expanded into three functions with
// different targets, so that nothing else in the source file is affected by them.

#include "chainerx/backends/native/kernels/isa.h"

#if CHAINERX_ISA_X86
#define CHAINERX_TARGET_V3 __attribute__((target("arch=x86-64-v3"), flatten))
#define CHAINERX_TARGET_V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten))
#endif
#define CHAINERX_TARGET_BASE __attribute__((flatten))

namespace chainerx::native {

template <class Body, class... Args>
struct MultiVersion {
    using Function = void (*)(Args...);

    static Function Pick() {
#if CHAINERX_ISA_X86
        switch (GetIsa()) {
            case Isa::kV4:
                return &V4;
            case Isa::kV3:
                return &V3;
            default:
                break;
        }
#endif
        return &Base;
    }

private:
    CHAINERX_TARGET_BASE static void Base(Args... args) { Body::Run(args...); }
#if CHAINERX_ISA_X86
    CHAINERX_TARGET_V3 static void V3(Args... args) { Body::Run(args...); }
    CHAINERX_TARGET_V4 static void V4(Args... args) { Body::Run(args...); }
#endif
};

}  // namespace chainerx::native
