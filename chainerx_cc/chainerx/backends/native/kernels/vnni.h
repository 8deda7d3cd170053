#pragma once

#include "chainerx/backends/native/kernels/isa.h"

namespace chainerx::native {

// Whether kernels use AVX-512 VNNI: on a processor that has it, unless CHAINERX_ISA is base, v3 or v4.
bool HasVnni();

}  // namespace chainerx::native

// The same as CHAINERX_ISA_KERNEL for kernels in sources named *_vnni_isa.cc, which are compiled for x86-64-v4 with
// VNNI, too, in the namespace `vnni`.
#if CHAINERX_ISA_X86
#define CHAINERX_VNNI_DECLARE(isa, Name, Params) \
    namespace isa {                              \
    template <class T>                           \
    void Name Params;                            \
    }
#define CHAINERX_VNNI_KERNEL(Name, Params, Args) \
    CHAINERX_VNNI_DECLARE(base, Name, Params)    \
    CHAINERX_VNNI_DECLARE(v3, Name, Params)      \
    CHAINERX_VNNI_DECLARE(v4, Name, Params)      \
    CHAINERX_VNNI_DECLARE(vnni, Name, Params)    \
    template <class T>                           \
    inline void Name Params {                    \
        if (HasVnni()) {                         \
            vnni::Name<T> Args;                  \
        } else if (GetIsa() == Isa::kV4) {       \
            v4::Name<T> Args;                    \
        } else if (GetIsa() == Isa::kV3) {       \
            v3::Name<T> Args;                    \
        } else {                                 \
            base::Name<T> Args;                  \
        }                                        \
    }
#else
#define CHAINERX_VNNI_KERNEL CHAINERX_ISA_KERNEL
#endif
