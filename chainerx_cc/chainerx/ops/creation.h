#pragma once

#include <optional>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/core/scalar.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

// Kernels.
using ArangeKernel = KernelSlot<void(const Array& out, const Scalar& start, const Scalar& step)>;
extern const ArangeKernel kArangeKernel;  // out[i] = start + i * step

// An uninitialized array. The default dtype is float32, as for zeros and ones.
Array Uninitialized(const Shape& shape, const std::optional<Dtype>& dtype = std::nullopt,
                    Device& device = GetDefaultDevice());
Array Zeros(const Shape& shape, const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());
Array Ones(const Shape& shape, const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());
// An array filled with a number, of the number's dtype unless another is given.
Array Full(const Shape& shape, const Scalar& value, const std::optional<Dtype>& dtype = std::nullopt,
           Device& device = GetDefaultDevice());
// An uninitialized array of the shape of `a`. Device and dtype default to those of `a`.
Array EmptyLike(const Array& a, Device* device = nullptr, const std::optional<Dtype>& dtype = std::nullopt);
Array ZerosLike(const Array& a, Device* device = nullptr, const std::optional<Dtype>& dtype = std::nullopt);
Array OnesLike(const Array& a, Device* device = nullptr, const std::optional<Dtype>& dtype = std::nullopt);
Array FullLike(const Array& a, const Scalar& value, Device* device = nullptr,
               const std::optional<Dtype>& dtype = std::nullopt);

// start, start + step, ... below stop. A single number is `stop`, and start is zero. The numbers determine the default
// dtype.
Array Arange(const Scalar& start, const std::optional<Scalar>& stop = std::nullopt,
             const std::optional<Scalar>& step = std::nullopt, const std::optional<Dtype>& dtype = std::nullopt,
             Device& device = GetDefaultDevice());
Array Linspace(double start, double stop, int64_t num = 50, bool endpoint = true,
               const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());
// The identity matrix. The default dtype is float64, as for eye; the default of tri is float32.
Array Identity(int64_t n, const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());
Array Eye(int64_t n, const std::optional<int64_t>& m = std::nullopt, int64_t k = 0,
          const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());
Array Tri(int64_t n, const std::optional<int64_t>& m = std::nullopt, int64_t k = 0,
          const std::optional<Dtype>& dtype = std::nullopt, Device& device = GetDefaultDevice());

// An array with the contents of host memory in C order.
Array FromHost(const Shape& shape, Dtype dtype, const void* data, Device& device = GetDefaultDevice());

struct HostBuffer {
    const char* data;
    int64_t size;  // in bytes
};
// A vector of `count` elements that lie `offset` bytes after the beginning of a buffer; a negative count means all.
// Copies them. Of dtype float32 unless another is given.
Array FromBuffer(const HostBuffer& buffer, const std::optional<Dtype>& dtype = std::nullopt, int64_t count = -1,
                 int64_t offset = 0, Device& device = GetDefaultDevice());

// Sets all elements, in place.
void Fill(const Array& a, const Scalar& value);

#define CHAINERX_CREATION_ROUTINES(X) \
    X(Uninitialized)                  \
    X(Zeros)                          \
    X(Ones)                           \
    X(Full)                           \
    X(EmptyLike)                      \
    X(ZerosLike)                      \
    X(OnesLike)                       \
    X(FullLike)                       \
    X(Arange)                         \
    X(Linspace)                       \
    X(Identity)                       \
    X(Eye)                            \
    X(Tri)                            \
    X(FromBuffer)

CHAINERX_CREATION_ROUTINES(CHAINERX_DECLARE_ROUTINE)

}  // namespace chainerx
