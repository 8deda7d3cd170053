#pragma once

// What the backend uses of the interface of cuDNN 9. NVIDIA's headers come with the library only, half a gigabyte that
// no build should need; where they are, the build compares these declarations with them (checks/cudnn_header.cc).
//
// Convolutions are graphs of one operation, whose plan is made once. The other functions make one call of one
// operation.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "chainerx/backends/cuda/cudnn_graph_api.h"
#include "chainerx/backends/cuda/cudnn_rnn_api.h"

namespace chainerx::cuda::cudnn {

struct Context;
struct TensorStruct;
struct PoolingStruct;
using Handle = Context*;
using Tensor = TensorStruct*;
using Pooling = PoolingStruct*;

enum class Status : int { kSuccess = 0, kBadParameter = 2000, kNotSupported = 3000 };
enum class DataType : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2 };
enum class ConvolutionMode : int { kCrossCorrelation = 1 };
enum class NanPropagation : int { kYes = 1 };
enum class PoolingMode : int { kAverageWithPadding = 1, kAverageWithoutPadding = 2 };
enum class BatchNormMode : int { kSpatial = 1, kSpatialPersistent = 2 };

// Result, name without the prefix, parameters.
#define CHAINERX_CUDNN_FUNCTIONS(X)                                                                                   \
    X(size_t, GetVersion, ())                                                                                         \
    X(const char*, GetErrorString, (Status status))                                                                   \
    X(void, GetLastErrorString, (char* message, size_t size))                                                         \
    X(Status, Create, (Handle * handle))                                                                              \
    X(Status, SetStream, (Handle handle, cudaStream_t stream))                                                        \
    X(Status, CreateTensorDescriptor, (Tensor * desc))                                                                \
    X(Status, SetTensorNdDescriptor, (Tensor desc, DataType type, int ndim, const int* shape, const int* strides))    \
    X(Status, DestroyTensorDescriptor, (Tensor desc))                                                                 \
    X(Status, BackendCreateDescriptor, (DescriptorType type, GraphHandle * desc))                                     \
    X(Status, BackendDestroyDescriptor, (GraphHandle desc))                                                           \
    X(Status, BackendSetAttribute,                                                                                    \
      (GraphHandle desc, Attribute name, AttributeType type, int64_t count, const void* values))                      \
    X(Status, BackendFinalize, (GraphHandle desc))                                                                    \
    X(Status, BackendGetAttribute,                                                                                    \
      (GraphHandle desc, Attribute name, AttributeType type, int64_t size, int64_t * count, void* values))            \
    X(Status, BackendExecute, (Handle handle, GraphHandle plan, GraphHandle variant_pack))                            \
    X(Status, BatchNormalizationForwardTraining,                                                                      \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, Tensor x_desc, const void* x,          \
       Tensor y_desc, void* y, Tensor parameter_desc, const void* gamma, const void* bias, double factor,             \
       void* running_mean, void* running_var, double eps, void* mean, void* inv_std))                                 \
    X(Status, BatchNormalizationForwardInference,                                                                     \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, Tensor x_desc, const void* x,          \
       Tensor y_desc, void* y, Tensor parameter_desc, const void* gamma, const void* bias, const void* mean,          \
       const void* var, double eps))                                                                                  \
    X(Status, BatchNormalizationBackward,                                                                             \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, const void* alpha_parameters,          \
       const void* beta_parameters, Tensor x_desc, const void* x, Tensor gy_desc, const void* gy, Tensor gx_desc,     \
       void* gx, Tensor parameter_desc, const void* gamma, void* ggamma, void* gbeta, double eps, const void* mean,   \
       const void* inv_std))                                                                                          \
    X(Status, CreatePoolingDescriptor, (Pooling * desc))                                                              \
    X(Status, SetPoolingNdDescriptor,                                                                                 \
      (Pooling desc, PoolingMode mode, NanPropagation nan, int ndim, const int* kernel, const int* pad,               \
       const int* stride))                                                                                            \
    X(Status, DestroyPoolingDescriptor, (Pooling desc))                                                               \
    X(Status, PoolingForward,                                                                                         \
      (Handle handle, Pooling desc, const void* alpha, Tensor x_desc, const void* x, const void* beta, Tensor y_desc, \
       void* y))                                                                                                      \
    X(Status, PoolingBackward,                                                                                        \
      (Handle handle, Pooling desc, const void* alpha, Tensor y_desc, const void* y, Tensor gy_desc, const void* gy,  \
       Tensor x_desc, const void* x, const void* beta, Tensor gx_desc, void* gx))                                     \
    CHAINERX_CUDNN_RNN_FUNCTIONS(X)

}  // namespace chainerx::cuda::cudnn
