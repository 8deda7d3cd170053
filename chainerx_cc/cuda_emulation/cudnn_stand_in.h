#pragma once

// A stand-in for cuDNN: libcudnn.so.9. Its functions work in their stream, by plain loops in float64.

#include <cstdint>
#include <functional>
#include <vector>

#include "chainerx/backends/cuda/cudnn_api.h"
#include "cuda_runtime.h"
#include "numbers.h"

namespace chainerx::cuda::cudnn {

extern "C" {
#define CHAINERX_DECLARE(result, name, parameters) result cudnn##name parameters;
CHAINERX_CUDNN_FUNCTIONS(CHAINERX_DECLARE)
#undef CHAINERX_DECLARE
}  // extern "C"

using Sizes = std::vector<int>;

struct Context {
    cudaStream_t stream;
};

struct TensorStruct {
    DataType type;
    Sizes shape;

    int64_t size() const {
        int64_t n = 1;
        for (int length : shape) n *= length;
        return n;
    }
    bool operator==(const TensorStruct& other) const { return type == other.type && shape == other.shape; }
};
struct PoolingStruct {
    PoolingMode mode;
    Sizes kernel, pad, stride;
};

// An array in memory of the device.
struct Elements {
    int type;
    char* data;

    Elements(const TensorStruct* desc, const void* p)
        : type{static_cast<int>(desc->type)}, data{const_cast<char*>(static_cast<const char*>(p))} {}
    Elements(DataType type, const void* p)
        : type{static_cast<int>(type)}, data{const_cast<char*>(static_cast<const char*>(p))} {}
    double operator[](int64_t i) const { return cuda_emulation::Load(data, type, i); }
    void Set(int64_t i, double value) const { cuda_emulation::Store(data, type, i, value); }
};

// alpha * result + beta * what was there.
struct Blend {
    double alpha;
    double beta;

    Blend(DataType type, const void* alpha, const void* beta)
        : alpha{LoadFactor(type, alpha)}, beta{LoadFactor(type, beta)} {}
    void Write(const Elements& to, int64_t i, double value) const {
        to.Set(i, alpha * value + (beta == 0 ? 0 : beta * to[i]));
    }

private:
    static double LoadFactor(DataType type, const void* p) {
        return type == DataType::kFloat64 ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
    }
};

// The dtype of sums and of parameters for elements of a dtype.
inline DataType GetComputeType(DataType type) { return type == DataType::kFloat64 ? type : DataType::kFloat32; }

// Notes the call, with what tests want to know about it, and returns the failure that tests asked for.
Status Note(const char* function, const std::vector<std::pair<const char*, int64_t>>& details = {});
// Notes a call that is valid or not, and submits its work.
Status Submit(const char* function, Handle handle, bool is_valid, std::function<void()> work,
              const std::vector<std::pair<const char*, int64_t>>& details = {});

}  // namespace chainerx::cuda::cudnn

// For tests.
extern "C" {

// The calls since the last time, a line each.
const char* cudnnEmulatedCalls();
// Lets calls of a function fail: one named as in cudnn_api.h. Status 0 ends it.
void cudnnEmulatedFail(const char* function, int status);

}  // extern "C"
