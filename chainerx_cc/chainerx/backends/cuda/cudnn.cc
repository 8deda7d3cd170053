#include "chainerx/backends/cuda/cudnn.h"

#include <limits>
#include <map>

#include "chainerx/backends/cuda/cublas.h"
#include "chainerx/backends/cuda/library.h"
#include "chainerx/core/error.h"

namespace chainerx::cuda {
namespace cudnn {
namespace {

constexpr int kMajor = 9;

struct Cudnn {
    Cudnn() {
        if (!library.IsAvailable()) return;
        library.Get(functions.GetVersion, "cudnnGetVersion");
        version = static_cast<int>(functions.GetVersion());
        if (version / 10000 != kMajor) {
            library.Refuse("its version is ", version, ", not ", kMajor, "xxxx");
            version = 0;
            return;
        }
#define CHAINERX_CUDNN_GET(result, name, parameters) library.Get(functions.name, "cudnn" #name);
        CHAINERX_CUDNN_FUNCTIONS(CHAINERX_CUDNN_GET)
        // cuDNN looks for cuBLASLt by its name, and finds it once cuBLAS is loaded.
        HasBlas();
    }

    // The wheels for CUDA 12 and 13 have it in the same place.
    Library library{"cuDNN", {"nvidia/cudnn/lib/libcudnn.so.9"}, "nvidia-cudnn-cu13"};
    Functions functions{};
    int version{0};

    std::mutex mutex;
    struct Device {
        Handle handle;
        cudaStream_t stream;
    };
    std::map<int, Device> devices;  // as long as the process
};

Cudnn& GetCudnn() {
    static auto* cudnn = new Cudnn;
    return *cudnn;
}

}  // namespace

const Functions* Find() {
    static const Cudnn& cudnn = GetCudnn();
    return cudnn.version == 0 ? nullptr : &cudnn.functions;
}

int GetVersion() { return GetCudnn().version; }

void ThrowError(const Failure& failure, const char* what) {
    const Functions& functions = *Find();
    char detail[256] = "";
    functions.GetLastErrorString(detail, sizeof(detail));
    throw DeviceError{"cuDNN error in ",
                      what,
                      ": ",
                      functions.GetErrorString(failure.status),
                      failure.where.empty() ? "" : " for ",
                      failure.where,
                      *detail == '\0' ? "" : "; ",
                      detail};
}

std::mutex& GetMutex() { return GetCudnn().mutex; }

Handle GetHandle(int device, cudaStream_t stream) {
    Cudnn& cudnn = GetCudnn();
    Cudnn::Device& known = cudnn.devices[device];
    if (known.handle == nullptr) Check(cudnn.functions.Create(&known.handle));
    if (known.stream != stream) {
        Check(cudnn.functions.SetStream(known.handle, stream));
        known.stream = stream;
    }
    return known.handle;
}

DataType GetType(Dtype dtype) {
    if (dtype == Dtype::kFloat64) return DataType::kFloat64;
    return dtype == Dtype::kFloat16 ? DataType::kFloat16 : DataType::kFloat32;
}

TensorDescriptor::TensorDescriptor(Dtype dtype, const std::vector<int>& shape) {
    std::vector<int> strides(shape.size());
    int step = 1;
    for (size_t d = shape.size(); d-- > 0;) {
        strides[d] = step;
        step *= shape[d];
    }
    Check(Find()->SetTensorNdDescriptor(get(), GetType(dtype), static_cast<int>(shape.size()), shape.data(),
                                        strides.data()));
}

}  // namespace cudnn

// Factors are float64 for arrays of float64, or else float32.
const void* One(Dtype dtype) {
    static constexpr float kFloat = 1;
    static constexpr double kDouble = 1;
    return dtype == Dtype::kFloat64 ? static_cast<const void*>(&kDouble) : &kFloat;
}

const void* Zero(Dtype dtype) {
    static constexpr float kFloat = 0;
    static constexpr double kDouble = 0;
    return dtype == Dtype::kFloat64 ? static_cast<const void*>(&kDouble) : &kFloat;
}

bool FitsDnn(const Array& a) {
    int64_t n = a.GetTotalSize();
    // Not all of these functions of cuDNN know bfloat16.
    return a.dtype() != Dtype::kBfloat16 && n > 0 && n <= std::numeric_limits<int>::max();
}

}  // namespace chainerx::cuda
