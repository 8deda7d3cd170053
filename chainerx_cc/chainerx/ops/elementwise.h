#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/op.h"

// How elementwise operations are declared. An op derives from Elementwise, which fixes the number of inputs, the dtype
// rule and the dtypes that are computed in, and has
//
//   CHAINERX_OP(name, signature, doc)
//   template <class T> R Forward(T x0, ...) const      one element, without branches
//   Array Grad0(const Array& gy, ...) const            gradient for input 0 (Grad1, Grad2: for the others)
//
// Further parameters of the gradients say what they read, and only that is kept: `In<i>` an input, `Out` the output.
// They are written with differentiable operations, which gives gradients of any order. Those of complex arrays
// follow from the same formulas, see ElementwiseNode. An op without them stops
// gradients. Parameters of an op, such as a slope, are its data members.

namespace chainerx {

// An array or a number next to arrays. Refers to the array, so it is only for function arguments.
class Operand {
public:
    Operand(const Array& a) : array_{&a} {}                    // NOLINT(runtime/explicit)
    Operand(const Scalar& s) : array_{nullptr}, scalar_{s} {}  // NOLINT(runtime/explicit)
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Operand(T v) : Operand{Scalar{v}} {}  // NOLINT(runtime/explicit)
    Operand() : array_{nullptr} {}

    bool is_array() const { return array_ != nullptr; }
    const Array& array() const { return *array_; }
    const Scalar& scalar() const { return scalar_; }

private:
    const Array* array_;
    Scalar scalar_;
};

enum class DtypeRule : uint8_t {
    kPromote,  // compute in the promoted dtype
    kNumber,   // the same, but booleans next to an integer without a dtype are integers
    kCompare,  // the same, but exact for integers next to others, as far as a dtype allows
    kPower,    // kNumber; integers have no negative exponents
    kFloat,    // the promoted dtype, made floating point
    kSelect,   // the first input is a condition; the others are promoted
    kShift,    // the dtype of the first input, which is shifted
};

struct ElementwiseInfo {
    const char* name;
    const ElementwiseKernel* kernel;
    DtypeRule rule;
    DtypeSet dtypes;
    bool bool_out;
};

namespace internal {

// The dtype in which an op computes. Raises DtypeError when it does not support that dtype, ValueError for a negative
// power of integers, which waits for an exponent that is an array.
Dtype ResolveElementwiseDtype(const ElementwiseInfo& info, const Operand* inputs, int n);
Array RunElementwise(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n);
// Raises DtypeError unless results of a dtype can be written to an array of another one.
void CheckCanHold(const char* op, Dtype dtype, Dtype result);
// Writes the result to an array that exists.
void RunElementwiseInto(const ElementwiseInfo& info, const void* op, const Operand* inputs, int n, const Array& out);

}  // namespace internal

namespace ops {

// Parameters of gradient functions.
template <int I>
struct In : Array {
    explicit In(Array a) : Array{std::move(a)} {}
};
struct Out : Array {
    explicit Out(Array a) : Array{std::move(a)} {}
};

// Its members are defined in the library only, above all the slot: each op has one in a process.
template <class Op, int N>
struct ElementwiseCaller;

template <class Op>
struct ElementwiseCaller<Op, 1> : OpBase {
    // For backends: Op::kernel().Register(backend, &function).
    static const ElementwiseKernel& kernel();
    static Array Call(const Array& x);
};
template <class Op>
struct ElementwiseCaller<Op, 2> : OpBase {
    static const ElementwiseKernel& kernel();
    static Array Call(const Operand& x1, const Operand& x2);
    // x1 = op(x1, x2)
    static void CallInPlace(const Array& x1, const Operand& x2);
};
template <class Op>
struct ElementwiseCaller<Op, 3> : OpBase {
    static const ElementwiseKernel& kernel();
    static Array Call(const Operand& x1, const Operand& x2, const Operand& x3);
};

template <class Op, int N, DtypeRule Rule, DtypeSet Dtypes, bool BoolOut = false>
struct Elementwise : ElementwiseCaller<Op, N> {
    static constexpr int kArity = N;
    static constexpr DtypeSet kDtypes = Dtypes;
    static constexpr bool kBoolOut = BoolOut;
    static constexpr bool kIsSelect = Rule == DtypeRule::kSelect;
    // The slot of an op whose kernel is also called below the operations (core/kernels.h). Others have slots made for
    // them.
    static constexpr std::nullptr_t kSharedKernel = nullptr;

    static ElementwiseInfo Info() { return {Op::kName, &Op::kernel(), Rule, Dtypes, BoolOut}; }
};

// The usual dtype rules, for real dtypes; ops that complex numbers suit say so by kComplexSet.
template <class Op, int N, DtypeSet More = 0>
using Arithmetic = Elementwise<Op, N, DtypeRule::kNumber, kNumericSet | More>;
template <class Op, int N, DtypeSet More = 0>
using AnyDtype = Elementwise<Op, N, DtypeRule::kNumber, kAllSet | More>;
template <class Op, int N, DtypeSet More = 0>
using FloatMath = Elementwise<Op, N, DtypeRule::kFloat, kFloatSet | More>;
template <class Op, int N, DtypeSet More = 0>
using Predicate = Elementwise<Op, N, DtypeRule::kNumber, kAllSet | More, true>;
template <class Op, DtypeSet More = 0>
using Comparison = Elementwise<Op, 2, DtypeRule::kCompare, kAllSet | More, true>;
template <class Op, int N>
using Bitwise = Elementwise<Op, N, DtypeRule::kPromote, kIntSet | kBoolSet>;
template <class Op, int N>
using Shift = Elementwise<Op, N, DtypeRule::kShift, kIntSet>;

// The gradient function for input I, if there is one.
template <class Op, int I, class = void>
struct GradOf {
    static constexpr bool kExists = false;
};
#define CHAINERX_GRAD_OF(I)                                     \
    template <class Op>                                         \
    struct GradOf<Op, I, std::void_t<decltype(&Op::Grad##I)>> { \
        static constexpr bool kExists = true;                   \
        static constexpr auto kFunction = &Op::Grad##I;         \
    };
CHAINERX_GRAD_OF(0)
CHAINERX_GRAD_OF(1)
CHAINERX_GRAD_OF(2)
#undef CHAINERX_GRAD_OF

// Applies an op with parameters.
template <class Op>
Array ApplyElementwise(const Op& op, const Operand (&inputs)[Op::kArity]);

}  // namespace ops
}  // namespace chainerx
