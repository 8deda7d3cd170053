#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/float16.h"

namespace chainerx {

enum class Dtype : uint8_t { kBool, kInt8, kInt16, kInt32, kInt64, kUInt8, kFloat16, kFloat32, kFloat64 };

constexpr int kNumDtypes = 9;

enum class DtypeKind : uint8_t { kBool, kInt, kUInt, kFloat };

template <class T>
struct TypeTag {
    using type = T;
};

template <class T>
struct DtypeOf;

// X(C++ type, enumerator, kind, NumPy name, NumPy character)
#define CHAINERX_DTYPES(X)                       \
    X(bool, kBool, kBool, "bool", '?')           \
    X(int8_t, kInt8, kInt, "int8", 'b')          \
    X(int16_t, kInt16, kInt, "int16", 'h')       \
    X(int32_t, kInt32, kInt, "int32", 'i')       \
    X(int64_t, kInt64, kInt, "int64", 'l')       \
    X(uint8_t, kUInt8, kUInt, "uint8", 'B')      \
    X(Float16, kFloat16, kFloat, "float16", 'e') \
    X(float, kFloat32, kFloat, "float32", 'f')   \
    X(double, kFloat64, kFloat, "float64", 'd')

#define CHAINERX_X(type, name, kind, str, ch)       \
    template <>                                     \
    struct DtypeOf<type> {                          \
        static constexpr Dtype value = Dtype::name; \
    };
CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X

// Calls f(TypeTag<T>{}) with the C++ type of the dtype.
template <class F>
decltype(auto) VisitDtype(Dtype dtype, F&& f) {
    switch (dtype) {
#define CHAINERX_X(type, name, kind, str, ch) \
    case Dtype::name:                         \
        return f(TypeTag<type>{});
        CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
    }
    throw DtypeError{"invalid dtype"};
}

template <class F>
decltype(auto) VisitFloatDtype(Dtype dtype, F&& f) {
    switch (dtype) {
        case Dtype::kFloat16:
            return f(TypeTag<Float16>{});
        case Dtype::kFloat32:
            return f(TypeTag<float>{});
        case Dtype::kFloat64:
            return f(TypeTag<double>{});
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
        CHAINERX_DTYPES(CHAINERX_X)
#undef CHAINERX_X
};

}  // namespace internal

constexpr int64_t GetItemSize(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].item_size; }
constexpr DtypeKind GetKind(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].kind; }
constexpr char GetCharCode(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].character; }
constexpr const char* GetDtypeName(Dtype d) { return internal::kDtypeInfo[static_cast<int>(d)].name; }
constexpr bool IsFloat(Dtype d) { return GetKind(d) == DtypeKind::kFloat; }
constexpr bool IsInteger(Dtype d) { return GetKind(d) == DtypeKind::kInt || GetKind(d) == DtypeKind::kUInt; }
inline std::ostream& operator<<(std::ostream& os, Dtype d) { return os << GetDtypeName(d); }

// Accepts NumPy's names and type characters. Raises DtypeError for anything else.
Dtype GetDtype(const std::string& name);

// The dtype of results of arrays of two dtypes. The kind decides first (floating point over integers over booleans),
// then the width; int8 and uint8 become int16. All operations of several arrays follow this function.
constexpr Dtype PromoteTypes(Dtype a, Dtype b) {
    Dtype low = a < b ? a : b;
    Dtype high = a < b ? b : a;
    if (high != Dtype::kUInt8 || low == high || low == Dtype::kBool) return high;
    return low == Dtype::kInt8 ? Dtype::kInt16 : low;
}

// The dtype of results that are always of floating point, such as quotients and means.
constexpr Dtype ToFloatDtype(Dtype d) { return IsFloat(d) ? d : Dtype::kFloat32; }

// Whether results of a kind can be written to an array that exists. Integers may change their width and sign.
constexpr bool CanHold(Dtype dtype, DtypeKind kind) {
    return IsInteger(dtype) ? kind != DtypeKind::kFloat : kind <= GetKind(dtype);
}

// A set of dtypes as a bit mask.
using DtypeSet = uint16_t;
constexpr DtypeSet SetOf(Dtype d) { return static_cast<DtypeSet>(1U << static_cast<int>(d)); }
constexpr bool Contains(DtypeSet set, Dtype d) { return (set & SetOf(d)) != 0; }
constexpr DtypeSet kBoolSet = SetOf(Dtype::kBool);
constexpr DtypeSet kFloatSet = SetOf(Dtype::kFloat16) | SetOf(Dtype::kFloat32) | SetOf(Dtype::kFloat64);
constexpr DtypeSet kIntSet =
        SetOf(Dtype::kInt8) | SetOf(Dtype::kInt16) | SetOf(Dtype::kInt32) | SetOf(Dtype::kInt64) | SetOf(Dtype::kUInt8);
constexpr DtypeSet kNumericSet = kIntSet | kFloatSet;
constexpr DtypeSet kAllSet = kNumericSet | kBoolSet;

}  // namespace chainerx
