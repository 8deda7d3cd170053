#pragma once

#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

// Kernels.
using ArangeKernel = KernelSlot<void(const Array& out, const Scalar& start, const Scalar& step)>;
extern const ArangeKernel kArangeKernel;  // out[i] = start + i * step

Array Full(const Shape& shape, const Scalar& value, Device& device = GetDefaultDevice());
Array Zeros(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());
Array Ones(const Shape& shape, Dtype dtype, Device& device = GetDefaultDevice());
Array EmptyLike(const Array& a);
Array FullLike(const Array& a, const Scalar& value);
Array ZerosLike(const Array& a);
Array OnesLike(const Array& a);

// start, start + step, ... below stop. Without a dtype, the numbers decide it.
Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<Dtype> dtype = std::nullopt,
             Device& device = GetDefaultDevice());
Array Linspace(double start, double stop, int64_t num = 50, bool endpoint = true,
               std::optional<Dtype> dtype = std::nullopt, Device& device = GetDefaultDevice());
Array Identity(int64_t n, Dtype dtype = Dtype::kFloat64, Device& device = GetDefaultDevice());
Array Eye(int64_t n, std::optional<int64_t> m = std::nullopt, int64_t k = 0, Dtype dtype = Dtype::kFloat64,
          Device& device = GetDefaultDevice());
Array Tri(int64_t n, std::optional<int64_t> m = std::nullopt, int64_t k = 0, Dtype dtype = Dtype::kFloat32,
          Device& device = GetDefaultDevice());

// An array with the contents of host memory in C order.
Array FromHost(const Shape& shape, Dtype dtype, const void* data, Device& device = GetDefaultDevice());

// Sets all elements, in place.
void Fill(const Array& a, const Scalar& value);

}  // namespace chainerx
