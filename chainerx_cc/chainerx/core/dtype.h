#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <ostream>
#include <string>

#include "chainerx/core/bfloat16.h"
#include "chainerx/core/error.h"
#include "chainerx/core/float16.h"

namespace chainerx {

enum class DtypeKind : uint8_t { kBool, kInt, kUInt, kFloat, kComplex };

template <class T>
struct TypeTag {
    using type = T;
};

template <class T>
struct DtypeOf;

// X(C++ type, enumerator, kind, NumPy name, NumPy character). Kinds follow each other, and widths within a kind.
#define CHAINERX_FLOAT_DTYPES(X)                    \
    X(Float16, kFloat16, kFloat, "float16", 'e')    \
    X(Bfloat16, kBfloat16, kFloat, "bfloat16", 'E') \
    X(float, kFloat32, kFloat, "float32", 'f')      \
    X(double, kFloat64, kFloat, "float64", 'd')
#define CHAINERX_UINT_DTYPES(X)                \
    X(uint8_t, kUInt8, kUInt, "uint8", 'B')    \
    X(uint16_t, kUInt16, kUInt, "uint16", 'H') \
    X(uint32_t, kUInt32, kUInt, "uint32", 'I') \
    X(uint64_t, kUInt64, kUInt, "uint64", 'L')
#define CHAINERX_NUMERIC_DTYPES(X)         \
    X(int8_t, kInt8, kInt, "int8", 'b')    \
    X(int16_t, kInt16, kInt, "int16", 'h') \
    X(int32_t, kInt32, kInt, "int32", 'i') \
    X(int64_t, kInt64, kInt, "int64", 'l') \
    CHAINERX_UINT_DTYPES(X)                \
    CHAINERX_FLOAT_DTYPES(X)
#define CHAINERX_DTYPES(X)             \
    X(bool, kBool, kBool, "bool", '?') \
    CHAINERX_NUMERIC_DTYPES(X)
// Apart from the others, so that only what names them is compiled for complex numbers.
#define CHAINERX_COMPLEX_DTYPES(X)                                 \
    X(std::complex<float>, kComplex64, kComplex, "complex64", 'F') \
    X(std::complex<double>, kComplex128, kComplex, "complex128", 'D')
#define CHAINERX_ALL_DTYPES(X) \
    CHAINERX_DTYPES(X)         \
    CHAINERX_COMPLEX_DTYPES(X)

#define CHAINERX_X(type, name, kind, str, ch) name,
enum class Dtype : uint8_t { CHAINERX_ALL_DTYPES(CHAINERX_X) };
#undef CHAINERX_X

#define CHAINERX_X(type, name, kind, str, ch) +1
constexpr int kNumDtypes = CHAINERX_ALL_DTYPES(CHAINERX_X);
#undef CHAINERX_X

#define CHAINERX_X(type, name, kind, str, ch)       \
    template <>                                     \
    struct DtypeOf<type> {                          \
        static constexpr Dtype value = Dtype::name; \
    };
CHAINERX_ALL_DTYPES(CHAINERX_X)
#undef CHAINERX_X

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Raises the error of functions that complex numbers do not suit.
[[noreturn]] void ThrowComplex(const char* function, Dtype dtype);

// Calls f(TypeTag<T>{}) with the C++ type of the dtype, which is not complex.
template <class F>
decltype(auto) VisitDtype(Dtype dtype, F&& f) {
    switch (dtype) {
#define CHAINERX_X(type, name, kind, str, ch) \
    case Dtype::name:                         \
        return f(TypeTag<type>{});
        CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
        default:
            ThrowComplex("the function", dtype);
    }
}

// The same for any dtype.
template <class F>
decltype(auto) VisitAnyDtype(Dtype dtype, F&& f) {
    switch (dtype) {
#define CHAINERX_X(type, name, kind, str, ch) \
    case Dtype::name:                         \
        return f(TypeTag<type>{});
        CHAINERX_ALL_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    }
    throw DtypeError{"invalid dtype"};
}

template <class F>
decltype(auto) VisitFloatDtype(Dtype dtype, F&& f) {
    switch (dtype) {
#define CHAINERX_X(type, name, kind, str, ch) \
    case Dtype::name:                         \
        return f(TypeTag<type>{});
        CHAINERX_FLOAT_DTYPES(CHAINERX_X)
#undef CHAINERX_X
        default:
            throw DtypeError{"a floating point dtype is needed"};
    }
}

namespace internal {

struct DtypeInfo {
    int8_t item_size;
    DtypeKind kind;
    char character;
    const char* name;
};

constexpr DtypeInfo kDtypeInfo[] = {
#define CHAINERX_X(type, name, kind, str, ch) {sizeof(type), DtypeKind::kind, ch, str},
        CHAINERX_ALL_DTYPES(CHAINERX_X)
#undef CHAINERX_X
};

}  // namespace internal

constexpr int64_t GetItemSize(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].item_size; }
constexpr DtypeKind GetKind(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].kind; }
constexpr char GetCharCode(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].character; }
constexpr const char* GetDtypeName(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].name; }
constexpr bool IsFloat(Dtype d) { return GetKind(d) == DtypeKind::kFloat; }
constexpr bool IsComplex(Dtype d) { return d >= Dtype::kComplex64; }  // the last ones
// Whether numbers have fractions: the dtypes that gradients have.
constexpr bool IsInexact(Dtype d) { return GetKind(d) >= DtypeKind::kFloat; }
constexpr bool IsInteger(Dtype d) { return GetKind(d) == DtypeKind::kInt || GetKind(d) == DtypeKind::kUInt; }
constexpr bool IsByte(Dtype d) { return d == Dtype::kInt8 || d == Dtype::kUInt8; }
// Half precision, which is computed in float32.
constexpr bool IsHalf(Dtype d) { return IsFloat(d) && GetItemSize(d) == 2; }
inline std::ostream& operator<<(std::ostream& os, Dtype d) { return os << GetDtypeName(d); }

// Accepts NumPy's names and type characters. Raises DtypeError for anything else.
Dtype GetDtype(const std::string& name);

namespace internal {

constexpr Dtype FindPromotion(Dtype a, Dtype b) {
    Dtype low = a < b ? a : b;
    Dtype high = a < b ? b : a;
    if (IsHalf(low) && IsHalf(high) && low != high) return Dtype::kFloat32;  // neither has the values of the other
    if (low == Dtype::kFloat64 && high == Dtype::kComplex64) return Dtype::kComplex128;
    if (GetKind(low) != DtypeKind::kInt || GetKind(high) != DtypeKind::kUInt) return high;
    if (GetItemSize(low) > GetItemSize(high)) return low;
    return high == Dtype::kUInt8    ? Dtype::kInt16
           : high == Dtype::kUInt16 ? Dtype::kInt32
           : high == Dtype::kUInt32 ? Dtype::kInt64
                                    : Dtype::kFloat64;
}

using PromotionTable = std::array<std::array<Dtype, kNumDtypes>, kNumDtypes>;

constexpr PromotionTable MakePromotionTable() {
    PromotionTable table{};
    for (int a = 0; a < kNumDtypes; ++a) {
        for (int b = 0; b < kNumDtypes; ++b) {
            table[a][b] = FindPromotion(static_cast<Dtype>(a), static_cast<Dtype>(b));
        }
    }
    return table;
}

inline constexpr PromotionTable kPromotions = MakePromotionTable();

}  // namespace internal

// The dtype of results of arrays of two dtypes. The kind decides first (complex over floating point over integers over
// booleans), then the width; float64 and complex64 become complex128. A signed and an unsigned integer become a signed
// one that has the values of both; where there is none, for uint64, float64 as in NumPy. float16 and bfloat16 become
// float32. All operations of several arrays follow this function.
constexpr Dtype PromoteTypes(Dtype a, Dtype b) {
    return internal::kPromotions[static_cast<int>(a)][static_cast<int>(b)];
}

// The dtype in which numbers of two dtypes are compared. As in NumPy, integers next to floating point do not become
// infinite in a narrow one.
constexpr Dtype ComparisonDtype(Dtype a, Dtype b) {
    Dtype promoted = PromoteTypes(a, b);
    if (!IsFloat(promoted) || !(IsInteger(a) || IsInteger(b)) || IsInteger(a) == IsInteger(b)) return promoted;
    int64_t integer_size = GetItemSize(IsInteger(a) ? a : b);
    Dtype least = integer_size == 1 ? Dtype::kFloat16 : integer_size == 2 ? Dtype::kFloat32 : Dtype::kFloat64;
    return PromoteTypes(promoted, least);
}

// The dtype in which integers and booleans are summed: one of 64 bits that has their values. Others are kept.
constexpr Dtype ToSumDtype(Dtype d) { return IsInexact(d) || d == Dtype::kUInt64 ? d : Dtype::kInt64; }

// The dtype of results that always have fractions, such as quotients and means.
constexpr Dtype ToFloatDtype(Dtype d) { return IsInexact(d) ? d : Dtype::kFloat32; }

// The dtype of the parts of complex numbers, and the one of complex numbers with such parts.
constexpr Dtype ToRealDtype(Dtype d) {
    return d == Dtype::kComplex64 ? Dtype::kFloat32 : d == Dtype::kComplex128 ? Dtype::kFloat64 : d;
}
constexpr Dtype ToComplexDtype(Dtype d) { return PromoteTypes(d, Dtype::kComplex64); }

// Whether results of a kind can be written to an array that exists. Integers may change their width and sign.
constexpr bool CanHold(Dtype dtype, DtypeKind kind) {
    return IsInteger(dtype) ? kind < DtypeKind::kFloat : kind <= GetKind(dtype);
}

// A set of dtypes as a bit mask.
using DtypeSet = uint16_t;
constexpr DtypeSet SetOf(Dtype d) { return static_cast<DtypeSet>(1U << static_cast<int>(d)); }
constexpr bool Contains(DtypeSet set, Dtype d) { return (set & SetOf(d)) != 0; }
constexpr DtypeSet SetOf(DtypeKind kind) {
    DtypeSet set = 0;
    for (int i = 0; i < kNumDtypes; ++i) {
        if (GetKind(static_cast<Dtype>(i)) == kind) set |= SetOf(static_cast<Dtype>(i));
    }
    return set;
}
constexpr DtypeSet kBoolSet = SetOf(DtypeKind::kBool);
constexpr DtypeSet kFloatSet = SetOf(DtypeKind::kFloat);
constexpr DtypeSet kComplexSet = SetOf(DtypeKind::kComplex);
constexpr DtypeSet kIntSet = SetOf(DtypeKind::kInt) | SetOf(DtypeKind::kUInt);
// Real dtypes. Ops that complex numbers suit add kComplexSet.
constexpr DtypeSet kNumericSet = kIntSet | kFloatSet;
constexpr DtypeSet kAllSet = kNumericSet | kBoolSet;

}  // namespace chainerx
