#pragma once

// What the backend uses of the interface of cuDNN 9. NVIDIA's headers come with the library only, half a gigabyte that
// no build should need; where they are, the build compares these declarations with them (checks/cudnn_header.cc).
//
// These are the functions that make one call of one operation. NVIDIA prefers graphs of operations, which need several
// calls and some hundred constants for the same, and runs these functions on the same engines.

#include <cuda_runtime.h>

#include <cstddef>

namespace chainerx::cuda::cudnn {

struct Context;
struct TensorStruct;
struct FilterStruct;
struct ConvolutionStruct;
struct PoolingStruct;
using Handle = Context*;
using Tensor = TensorStruct*;
using Filter = FilterStruct*;
using Convolution = ConvolutionStruct*;
using Pooling = PoolingStruct*;

enum class Status : int { kSuccess = 0, kBadParameter = 2000, kNotSupported = 3000 };
enum class DataType : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2 };
enum class TensorFormat : int { kChannelsFirst = 0 };
// How factors of float32 are multiplied: as they are (kFma), also rounded to TF32 (kDefault) or to float16. Those of
// float16 use the units for matrices in all of these modes but kFma.
enum class MathType : int { kDefault = 0, kTensor = 1, kTensorAllowConversion = 2, kFma = 3 };
enum class ConvolutionMode : int { kCrossCorrelation = 1 };
enum class Determinism : int { kNo = 0, kYes = 1 };
enum class NanPropagation : int { kYes = 1 };
enum class PoolingMode : int { kAverageWithPadding = 1, kAverageWithoutPadding = 2 };
enum class SoftmaxAlgorithm : int { kAccurate = 1, kLog = 2 };
enum class SoftmaxMode : int { kChannel = 1 };
enum class BatchNormMode : int { kSpatial = 1, kSpatialPersistent = 2 };

// An algorithm of a convolution, by its number.
struct Algorithm {
    int number;
    Status status;
    float time;
    size_t memory;
    Determinism determinism;
    MathType math;
    int reserved[3];
};

// Result, name without the prefix, parameters.
#define CHAINERX_CUDNN_FUNCTIONS(X)                                                                                    \
    X(size_t, GetVersion, ())                                                                                          \
    X(const char*, GetErrorString, (Status status))                                                                    \
    X(void, GetLastErrorString, (char* message, size_t size))                                                          \
    X(Status, Create, (Handle * handle))                                                                               \
    X(Status, SetStream, (Handle handle, cudaStream_t stream))                                                         \
    X(Status, CreateTensorDescriptor, (Tensor * desc))                                                                 \
    X(Status, SetTensorNdDescriptor, (Tensor desc, DataType type, int ndim, const int* shape, const int* strides))     \
    X(Status, DestroyTensorDescriptor, (Tensor desc))                                                                  \
    X(Status, CreateFilterDescriptor, (Filter * desc))                                                                 \
    X(Status, SetFilterNdDescriptor, (Filter desc, DataType type, TensorFormat format, int ndim, const int* shape))    \
    X(Status, DestroyFilterDescriptor, (Filter desc))                                                                  \
    X(Status, CreateConvolutionDescriptor, (Convolution * desc))                                                       \
    X(Status, SetConvolutionNdDescriptor,                                                                              \
      (Convolution desc, int ndim, const int* pad, const int* stride, const int* dilation, ConvolutionMode mode,       \
       DataType compute_type))                                                                                         \
    X(Status, SetConvolutionGroupCount, (Convolution desc, int groups))                                                \
    X(Status, SetConvolutionMathType, (Convolution desc, MathType math))                                               \
    X(Status, DestroyConvolutionDescriptor, (Convolution desc))                                                        \
    X(Status, GetConvolutionForwardAlgorithm_v7,                                                                       \
      (Handle handle, Tensor x_desc, Filter w_desc, Convolution desc, Tensor y_desc, int size, int* count,             \
       Algorithm* algorithms))                                                                                         \
    X(Status, GetConvolutionBackwardDataAlgorithm_v7,                                                                  \
      (Handle handle, Filter w_desc, Tensor y_desc, Convolution desc, Tensor x_desc, int size, int* count,             \
       Algorithm* algorithms))                                                                                         \
    X(Status, GetConvolutionBackwardFilterAlgorithm_v7,                                                                \
      (Handle handle, Tensor x_desc, Tensor y_desc, Convolution desc, Filter w_desc, int size, int* count,             \
       Algorithm* algorithms))                                                                                         \
    X(Status, FindConvolutionForwardAlgorithmEx,                                                                       \
      (Handle handle, Tensor x_desc, const void* x, Filter w_desc, const void* w, Convolution desc, Tensor y_desc,     \
       void* y, int size, int* count, Algorithm* algorithms, void* workspace, size_t bytes))                           \
    X(Status, FindConvolutionBackwardDataAlgorithmEx,                                                                  \
      (Handle handle, Filter w_desc, const void* w, Tensor y_desc, const void* y, Convolution desc, Tensor x_desc,     \
       void* x, int size, int* count, Algorithm* algorithms, void* workspace, size_t bytes))                           \
    X(Status, FindConvolutionBackwardFilterAlgorithmEx,                                                                \
      (Handle handle, Tensor x_desc, const void* x, Tensor y_desc, const void* y, Convolution desc, Filter w_desc,     \
       void* w, int size, int* count, Algorithm* algorithms, void* workspace, size_t bytes))                           \
    X(Status, ConvolutionForward,                                                                                      \
      (Handle handle, const void* alpha, Tensor x_desc, const void* x, Filter w_desc, const void* w, Convolution desc, \
       int algorithm, void* workspace, size_t bytes, const void* beta, Tensor y_desc, void* y))                        \
    X(Status, ConvolutionBackwardData,                                                                                 \
      (Handle handle, const void* alpha, Filter w_desc, const void* w, Tensor y_desc, const void* y, Convolution desc, \
       int algorithm, void* workspace, size_t bytes, const void* beta, Tensor x_desc, void* x))                        \
    X(Status, ConvolutionBackwardFilter,                                                                               \
      (Handle handle, const void* alpha, Tensor x_desc, const void* x, Tensor y_desc, const void* y, Convolution desc, \
       int algorithm, void* workspace, size_t bytes, const void* beta, Filter w_desc, void* w))                        \
    X(Status, AddTensor,                                                                                               \
      (Handle handle, const void* alpha, Tensor a_desc, const void* a, const void* beta, Tensor c_desc, void* c))      \
    X(Status, BatchNormalizationForwardTraining,                                                                       \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, Tensor x_desc, const void* x,           \
       Tensor y_desc, void* y, Tensor parameter_desc, const void* gamma, const void* bias, double factor,              \
       void* running_mean, void* running_var, double eps, void* mean, void* inv_std))                                  \
    X(Status, BatchNormalizationForwardInference,                                                                      \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, Tensor x_desc, const void* x,           \
       Tensor y_desc, void* y, Tensor parameter_desc, const void* gamma, const void* bias, const void* mean,           \
       const void* var, double eps))                                                                                   \
    X(Status, BatchNormalizationBackward,                                                                              \
      (Handle handle, BatchNormMode mode, const void* alpha, const void* beta, const void* alpha_parameters,           \
       const void* beta_parameters, Tensor x_desc, const void* x, Tensor gy_desc, const void* gy, Tensor gx_desc,      \
       void* gx, Tensor parameter_desc, const void* gamma, void* ggamma, void* gbeta, double eps, const void* mean,    \
       const void* inv_std))                                                                                           \
    X(Status, CreatePoolingDescriptor, (Pooling * desc))                                                               \
    X(Status, SetPoolingNdDescriptor,                                                                                  \
      (Pooling desc, PoolingMode mode, NanPropagation nan, int ndim, const int* kernel, const int* pad,                \
       const int* stride))                                                                                             \
    X(Status, DestroyPoolingDescriptor, (Pooling desc))                                                                \
    X(Status, PoolingForward,                                                                                          \
      (Handle handle, Pooling desc, const void* alpha, Tensor x_desc, const void* x, const void* beta, Tensor y_desc,  \
       void* y))                                                                                                       \
    X(Status, PoolingBackward,                                                                                         \
      (Handle handle, Pooling desc, const void* alpha, Tensor y_desc, const void* y, Tensor gy_desc, const void* gy,   \
       Tensor x_desc, const void* x, const void* beta, Tensor gx_desc, void* gx))                                      \
    X(Status, SoftmaxForward,                                                                                          \
      (Handle handle, SoftmaxAlgorithm algorithm, SoftmaxMode mode, const void* alpha, Tensor x_desc, const void* x,   \
       const void* beta, Tensor y_desc, void* y))                                                                      \
    X(Status, SoftmaxBackward,                                                                                         \
      (Handle handle, SoftmaxAlgorithm algorithm, SoftmaxMode mode, const void* alpha, Tensor y_desc, const void* y,   \
       Tensor gy_desc, const void* gy, const void* beta, Tensor gx_desc, void* gx))

}  // namespace chainerx::cuda::cudnn
