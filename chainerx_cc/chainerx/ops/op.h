#pragma once

// The parts of an operation's declaration from which bindings, stubs and documentation are generated. A family's list
// (CHAINERX_<FAMILY>_OPS at the end of its header) names its ops once; everything else follows from the list:
//
//   - the C++ function `chainerx::Exp`, an OpFunction that forwards to `ops::Exp::Call`,
//   - the kernels that a backend instantiates,
//   - the Python function, and the ndarray method where `kIsMethod` says so.

// `name`: in Python; `signature`: of the Python function; `doc`: a summary and an example, see python/doc.h.
#define CHAINERX_OP(name, signature, doc)                \
    static constexpr const char* kName = name;           \
    static constexpr const char* kSignature = signature; \
    static constexpr const char* kDoc = doc;

// Makes the op a method of ndarray as well.
#define CHAINERX_METHOD static constexpr bool kIsMethod = true;

// Says that the op has the same bits for integers with a sign and without, which then share loops.
#define CHAINERX_SIGNLESS static constexpr bool kIsSignless = true;

#include <utility>

namespace chainerx {
namespace ops {

struct OpBase {
    static constexpr bool kIsMethod = false;
    static constexpr bool kIsSignless = false;
};

}  // namespace ops

template <class Op>
struct OpFunction {
    template <class... Args>
    auto operator()(Args&&... args) const {
        return Op::Call(std::forward<Args>(args)...);
    }
};

#define CHAINERX_DEFINE_FUNCTION(Op) inline constexpr OpFunction<ops::Op> Op{};

}  // namespace chainerx
