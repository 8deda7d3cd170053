#pragma once

#include <type_traits>

namespace chainerx {

// Ops that compute in another way for certain values of a second argument that is a number.
template <class Op, class = void>
struct HasSpecialNumbers : std::false_type {};
template <class Op>
struct HasSpecialNumbers<Op, std::void_t<typename Op::SpecialNumbers>> : std::true_type {};

}  // namespace chainerx
