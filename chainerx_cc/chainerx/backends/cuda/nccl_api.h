#pragma once

// What the backend uses of the interface of NCCL 2. The build compares it with NVIDIA's header where that is found
// (checks/nccl_header.cc).

#include <cuda_runtime.h>

#include <cstddef>

namespace chainerx::cuda::nccl {

struct CommunicatorStruct;
using Communicator = CommunicatorStruct*;

struct Id {
    char bytes[128];
};

enum class Result : int { kSuccess = 0 };
enum class Type : int {
    kInt8 = 0,
    kUInt8 = 1,
    kInt32 = 2,
    kUInt32 = 3,
    kInt64 = 4,
    kUInt64 = 5,
    kFloat16 = 6,
    kFloat32 = 7,
    kFloat64 = 8,
    kBfloat16 = 9
};
enum class Operation : int { kSum = 0 };

// Result, name without the prefix, parameters.
#define CHAINERX_NCCL_FUNCTIONS(X)                                                                                    \
    X(const char*, GetErrorString, (Result result))                                                                   \
    X(Result, GetUniqueId, (Id * id))                                                                                 \
    X(Result, CommInitRank, (Communicator * communicator, int size, Id id, int rank))                                 \
    X(Result, CommDestroy, (Communicator communicator))                                                               \
    X(Result, AllReduce,                                                                                              \
      (const void* from, void* to, size_t count, Type type, Operation operation, Communicator communicator,           \
       cudaStream_t stream))                                                                                          \
    X(Result, Reduce,                                                                                                 \
      (const void* from, void* to, size_t count, Type type, Operation operation, int root, Communicator communicator, \
       cudaStream_t stream))                                                                                          \
    X(Result, Broadcast,                                                                                              \
      (const void* from, void* to, size_t count, Type type, int root, Communicator communicator, cudaStream_t stream))

struct Functions {
#define CHAINERX_NCCL_POINTER(result, name, parameters) result(*name) parameters;
    CHAINERX_NCCL_FUNCTIONS(CHAINERX_NCCL_POINTER)
#undef CHAINERX_NCCL_POINTER
};

}  // namespace chainerx::cuda::nccl
