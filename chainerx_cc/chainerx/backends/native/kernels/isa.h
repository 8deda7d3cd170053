#pragma once

// Sources named *_isa.cc are compiled once per instruction set, each time with CHAINERX_ISA defined as one of the
// namespaces below; at run time, the best one for the processor is called. Such sources call only inline functions that
// are always inlined (CHAINERX_INLINE), and none of the standard library: the linker keeps one copy of other inline
// functions, possibly the one compiled for the newest processor.

#include "chainerx/core/macro.h"

#if defined(__x86_64__)
#define CHAINERX_ISA_X86 1
#else
#define CHAINERX_ISA_X86 0
#endif

namespace chainerx::native {

enum class Isa {
    kBase = 0,  // x86-64-v2 (SSE4.2), or the target's own baseline such as NEON
    kV3 = 1,    // x86-64-v3: AVX2, FMA, F16C
    kV4 = 2,    // x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

// The best instruction set of this processor. The environment variable CHAINERX_ISA=base|v3|v4 lowers it.
Isa GetIsa();

}  // namespace chainerx::native

// CHAINERX_ISA_KERNEL(Name, (parameters), (arguments)) declares the function template Name<T>, a void
// function, in each instruction-set namespace, and one above them that calls the right one.
#if CHAINERX_ISA_X86
#define CHAINERX_ISA_KERNEL(Name, Params, Args) \
    namespace base {                            \
    template <class T>                          \
    void Name Params;                           \
    }                                           \
    namespace v3 {                              \
    template <class T>                          \
    void Name Params;                           \
    }                                           \
    namespace v4 {                              \
    template <class T>                          \
    void Name Params;                           \
    }                                           \
    template <class T>                          \
    inline void Name Params {                   \
        switch (GetIsa()) {                     \
            case Isa::kV4:                      \
                v4::Name<T> Args;               \
                return;                         \
            case Isa::kV3:                      \
                v3::Name<T> Args;               \
                return;                         \
            default:                            \
                base::Name<T> Args;             \
                return;                         \
        }                                       \
    }
#else
#define CHAINERX_ISA_KERNEL(Name, Params, Args) \
    namespace base {                            \
    template <class T>                          \
    void Name Params;                           \
    }                                           \
    template <class T>                          \
    inline void Name Params {                   \
        base::Name<T> Args;                     \
    }
#endif
