#pragma once

// What the backend uses of cuDNN's recurrent networks; see cudnn_api.h.

#include <cstddef>
#include <cstdint>

namespace chainerx::cuda::cudnn {

struct Context;
struct TensorStruct;
struct DropoutStruct;
struct RnnStruct;
struct RnnDataStruct;
using Dropout = DropoutStruct*;
using Rnn = RnnStruct*;
using RnnData = RnnDataStruct*;

enum class RnnAlgorithm : int { kStandard = 0 };
enum class CellMode : int { kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3 };
enum class BiasMode : int { kDouble = 2 };
enum class DirectionMode : int { kUnidirectional = 0, kBidirectional = 1 };
enum class InputMode : int { kLinear = 0 };
enum class MathType : int { kDefault = 0, kAllowConversion = 2, kFma = 3 };
enum class RnnDataLayout : int { kSequenceMajorPacked = 1 };
enum class ForwardMode : int { kInference = 0, kTraining = 1 };
enum class WeightGradMode : int { kAdd = 0 };

// The lengths of sequences in memory of the device (`device_lengths`) are those of data descriptors again. cuDNN 9 does
// without them.
#define CHAINERX_CUDNN_RNN_FUNCTIONS(X)                                                                              \
    X(Status, CreateDropoutDescriptor, (Dropout * desc))                                                             \
    X(Status, SetDropoutDescriptor,                                                                                  \
      (Dropout desc, Handle handle, float ratio, void* states, size_t state_size, unsigned long long seed))          \
    X(Status, DestroyDropoutDescriptor, (Dropout desc))                                                              \
    X(Status, CreateRNNDescriptor, (Rnn * desc))                                                                     \
    X(Status, SetRNNDescriptor_v8,                                                                                   \
      (Rnn desc, RnnAlgorithm algorithm, CellMode cell, BiasMode bias, DirectionMode direction, InputMode input,     \
       DataType type, DataType compute_type, MathType math, int32_t input_size, int32_t units, int32_t projection,   \
       int32_t layers, Dropout dropout, uint32_t flags))                                                             \
    X(Status, DestroyRNNDescriptor, (Rnn desc))                                                                      \
    X(Status, CreateRNNDataDescriptor, (RnnData * desc))                                                             \
    X(Status, SetRNNDataDescriptor,                                                                                  \
      (RnnData desc, DataType type, RnnDataLayout layout, int steps, int batch, int vector_size, const int* lengths, \
       void* padding))                                                                                               \
    X(Status, DestroyRNNDataDescriptor, (RnnData desc))                                                              \
    X(Status, GetRNNTempSpaceSizes,                                                                                  \
      (Handle handle, Rnn desc, ForwardMode mode, RnnData x_desc, size_t * workspace_size, size_t * reserve_size))   \
    X(Status, GetRNNWeightSpaceSize, (Handle handle, Rnn desc, size_t * size))                                       \
    X(Status, GetRNNWeightParams,                                                                                    \
      (Handle handle, Rnn desc, int32_t cell, size_t weight_size, const void* weights, int32_t gate,                 \
       Tensor matrix_desc, void** matrix, Tensor bias_desc, void** bias))                                            \
    X(Status, RNNForward,                                                                                            \
      (Handle handle, Rnn desc, ForwardMode mode, const int32_t* device_lengths, RnnData x_desc, const void* x,      \
       RnnData y_desc, void* y, Tensor h_desc, const void* h0, void* h, Tensor c_desc, const void* c0, void* c,      \
       size_t weight_size, const void* weights, size_t workspace_size, void* workspace, size_t reserve_size,         \
       void* reserve))                                                                                               \
    X(Status, RNNBackwardData_v8,                                                                                    \
      (Handle handle, Rnn desc, const int32_t* device_lengths, RnnData y_desc, const void* y, const void* gy,        \
       RnnData x_desc, void* gx, Tensor h_desc, const void* h0, const void* gh, void* gh0, Tensor c_desc,            \
       const void* c0, const void* gc, void* gc0, size_t weight_size, const void* weights, size_t workspace_size,    \
       void* workspace, size_t reserve_size, void* reserve))                                                         \
    X(Status, RNNBackwardWeights_v8,                                                                                 \
      (Handle handle, Rnn desc, WeightGradMode mode, const int32_t* device_lengths, RnnData x_desc, const void* x,   \
       Tensor h_desc, const void* h0, RnnData y_desc, const void* y, size_t weight_size, void* gweights,             \
       size_t workspace_size, void* workspace, size_t reserve_size, void* reserve))

}  // namespace chainerx::cuda::cudnn
