#include "chainerx/backends/native/copy.h"
#include "chainerx/backends/native/half_rows.h"
#include "chainerx/backends/native/strided.h"

namespace chainerx::native::CHAINERX_ISA {
namespace {

template <class From, class To>
struct CopyRow {
    static void Run(const void*, int64_t n, char* const* data, const int64_t* strides) {
        if (strides[0] == sizeof(To) && strides[1] == sizeof(From)) {
            To* out = reinterpret_cast<To*>(data[0]);
            const From* in = reinterpret_cast<const From*>(data[1]);
            if constexpr (kIsHalf<From> && std::is_floating_point_v<To>) {
                Widen(n, in, out);
            } else if constexpr (kIsHalf<To> && std::is_floating_point_v<From>) {
                Narrow(n, in, out);
            } else {
#pragma GCC ivdep
                for (int64_t i = 0; i < n; ++i) out[i] = Convert<From, To>(in[i]);
            }
            return;
        }
        char* out = data[0];
        const char* in = data[1];
        if (strides[0] == sizeof(To) && strides[1] == 0) {
            To v = Convert<From, To>(*reinterpret_cast<const From*>(in));
            for (int64_t i = 0; i < n; ++i) reinterpret_cast<To*>(out)[i] = v;
            return;
        }
        if constexpr (std::is_same_v<From, To>) {
            if (strides[0] == sizeof(To)) return Gather(n, in, strides[1], reinterpret_cast<To*>(out));
        }
        for (int64_t i = 0; i < n; ++i, out += strides[0], in += strides[1]) {
            *reinterpret_cast<To*>(out) = Convert<From, To>(*reinterpret_cast<const From*>(in));
        }
    }
};

// Between integers, signs matter only where some are widened, and then those of the source.
template <class From, class To>
constexpr RowFunction CopyRowOf() {
    using UnsignedFrom = typename Unsigned<From>::type;
    using UnsignedTo = typename Unsigned<To>::type;
    if constexpr (!std::is_integral_v<From> || !std::is_integral_v<To>) {
        return &CopyRow<From, To>::Run;
    } else if constexpr (sizeof(To) > sizeof(From)) {
        return &CopyRow<From, UnsignedTo>::Run;
    } else {
        return &CopyRow<UnsignedFrom, UnsignedTo>::Run;
    }
}

}  // namespace

template <class From>
void GetCopyRows(RowTable* rows) {
    *rows = {
#define CHAINERX_X(type, name, kind, str, ch) CopyRowOf<From, type>(),
            CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    };
}

#define CHAINERX_X(type, name, kind, str, ch) template void GetCopyRows<type>(RowTable*);
CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X

}  // namespace chainerx::native::CHAINERX_ISA
