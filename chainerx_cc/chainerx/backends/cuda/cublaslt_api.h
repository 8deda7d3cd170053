#pragma once

// What the backend uses of the interface of cuBLASLt 12 and 13. The build compares it with NVIDIA's header where that
// is found (checks/cublaslt_header.cc).

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "chainerx/backends/cuda/cublas_api.h"

namespace chainerx::cuda::blaslt {

struct Context;
struct MatmulStruct;
struct LayoutStruct;
struct PreferenceStruct;
using Handle = Context*;
using MatmulDesc = MatmulStruct*;
using Layout = LayoutStruct*;
using Preference = PreferenceStruct*;

enum class MatmulAttribute : int { kOperationA = 3, kOperationB = 4, kEpilogue = 7, kBiasPointer = 8 };
enum class PreferenceAttribute : int {
    kMaxWorkspace = 1,
    kAlignmentA = 5,
    kAlignmentB = 6,
    kAlignmentC = 7,
    kAlignmentD = 8,
};
enum class Epilogue : uint32_t { kBias = 4 };

struct Algorithm {
    uint64_t data[8];
};
struct Heuristic {
    Algorithm algorithm;
    size_t workspace;  // bytes
    int status;
    float waves;
    int reserved[4];
};

// Result, name without the prefix, parameters.
#define CHAINERX_CUBLASLT_FUNCTIONS(X)                                                                                 \
    X(int, Create, (Handle * handle))                                                                                  \
    X(int, MatmulDescCreate, (MatmulDesc * matmul, BlasCompute compute, BlasType scalars))                             \
    X(int, MatmulDescDestroy, (MatmulDesc matmul))                                                                     \
    X(int, MatmulDescSetAttribute, (MatmulDesc matmul, MatmulAttribute attribute, const void* value, size_t bytes))    \
    X(int, MatrixLayoutCreate, (Layout * layout, BlasType type, uint64_t rows, uint64_t columns, int64_t leading))     \
    X(int, MatrixLayoutDestroy, (Layout layout))                                                                       \
    X(int, MatmulPreferenceCreate, (Preference * preference))                                                          \
    X(int, MatmulPreferenceDestroy, (Preference preference))                                                           \
    X(int, MatmulPreferenceSetAttribute,                                                                               \
      (Preference preference, PreferenceAttribute attribute, const void* value, size_t bytes))                         \
    X(int, MatmulAlgoGetHeuristic,                                                                                     \
      (Handle handle, MatmulDesc matmul, Layout a, Layout b, Layout c, Layout d, Preference preference, int max_count, \
       Heuristic* results, int* count))                                                                                \
    X(int, Matmul,                                                                                                     \
      (Handle handle, MatmulDesc matmul, const void* alpha, const void* a, Layout layout_a, const void* b,             \
       Layout layout_b, const void* beta, const void* c, Layout layout_c, void* d, Layout layout_d,                    \
       const Algorithm* algorithm, void* workspace, size_t workspace_bytes, cudaStream_t stream))                      \
    X(const char*, GetStatusName, (int status))

}  // namespace chainerx::cuda::blaslt
