#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx_onnx/model.h"
#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

// The dtype of an element type. Raises ModelError for those that ChainerX does not have; `what` begins the message.
Dtype DtypeOf(int32_t element_type);
int32_t ElementTypeOf(Dtype dtype);

// Raises ModelError for a negative dimension, and for an array that does not fit into the machine's memory.
Shape CheckedShape(const std::vector<int64_t>& dims, int64_t item_size);

// A tensor of a file as an array in host memory. `folder`: where the files of external data are; empty allows none.
Array ReadTensor(const TensorMessage& message, const std::string& folder);
// The bits of integers that are narrower than a byte, and packed; zero for other element types.
int NarrowBits(int32_t element_type);
// `packed`: bytes of integers of 2, 4 or 8 bits without a sign, the first of which are in the lowest bits. As uint8.
Array UnpackIntegers(const Array& packed, const Shape& shape, int bits);
// A tensor of such integers as one of int8 or uint8.
Array ReadNarrowTensor(const TensorMessage& message, const std::string& folder);
// A tensor of any element type on a device; one of strings is Strings.
Value ReadValue(const TensorMessage& message, const std::string& folder, Device& device);
// As a dense array.
Array ReadSparseTensor(const SparseTensorMessage& message, const std::string& folder);

// The values of an array of integers or booleans of any device.
std::vector<int64_t> ReadInts(const Array& a);
// Vectors of int64 and float32 in host memory.
Array IntsArray(const std::vector<int64_t>& values);
Array FloatsArray(const std::vector<float>& values);

// The device of values that shapes are made of.
Device& HostDevice();

}  // namespace chainerx::onnx
