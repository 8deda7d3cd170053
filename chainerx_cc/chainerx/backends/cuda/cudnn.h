#pragma once

// Calls of cuDNN, which the backend finds at run time. Each of its kernels has a plain kernel behind it.

#include <cuda_runtime.h>

#include <mutex>
#include <string>
#include <vector>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/cudnn_api.h"
#include "chainerx/core/array.h"
#include "chainerx/core/dnn_settings.h"
#include "chainerx/core/dtype.h"

namespace chainerx::cuda {

namespace cudnn {

struct Functions {
#define CHAINERX_CUDNN_MEMBER(result, name, parameters) result(*name) parameters;
    CHAINERX_CUDNN_FUNCTIONS(CHAINERX_CUDNN_MEMBER)
#undef CHAINERX_CUDNN_MEMBER
};

// The functions of the library, or null without one that the program may use.
const Functions* Find();
// 0 without one.
int GetVersion();

// A call that failed.
struct Failure {
    Status status;
    std::string where{};  // of what it is, if the operation alone does not tell
    bool IsNotSupported() const { return static_cast<int>(status) / 1000 * 1000 == 3000; }
};

inline void Check(Status status) {
    if (status != Status::kSuccess) throw Failure{status};
}

[[noreturn]] void ThrowError(const Failure& failure, const char* what);

// One thread at a time uses the handles.
std::mutex& GetMutex();
// The handle of a device, which is current, for work in a stream.
Handle GetHandle(int device, cudaStream_t stream);

DataType GetType(Dtype dtype);

template <class T, Status (*Functions::*kCreate)(T*), Status (*Functions::*kDestroy)(T)>
class Descriptor {
public:
    Descriptor() { Check((Find()->*kCreate)(&desc_)); }
    ~Descriptor() { (Find()->*kDestroy)(desc_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    T get() const { return desc_; }

private:
    T desc_{};
};

// Contiguous arrays.
class TensorDescriptor
    : public Descriptor<Tensor, &Functions::CreateTensorDescriptor, &Functions::DestroyTensorDescriptor> {
public:
    TensorDescriptor(Dtype dtype, const std::vector<int>& shape);
};

}  // namespace cudnn

// What cuDNN needs for an operation on a device.
class Dnn {
public:
    Dnn(const CurrentDevice& current, int device, const DnnSettings& settings)
        : settings_{settings}, device_{device}, stream_{current.stream()} {}

    const DnnSettings& settings() const { return settings_; }
    int device() const { return device_; }
    cudaStream_t stream() const { return stream_; }

    // Calls f(handle), one thread at a time.
    template <class F>
    auto Use(F&& f) const {
        std::lock_guard<std::mutex> lock{cudnn::GetMutex()};
        return f(cudnn::GetHandle(device_, stream_));
    }

    template <class... Parameters, class... Arguments>
    void Call(cudnn::Status (*cudnn::Functions::*function)(cudnn::Handle, Parameters...),
              Arguments... arguments) const {
        Use([&](cudnn::Handle handle) { cudnn::Check((cudnn::Find()->*function)(handle, arguments...)); });
    }

private:
    DnnSettings settings_;
    int device_;
    cudaStream_t stream_;
};

// Pointers to factors of results and of what was there before.
const void* One(Dtype dtype);
const void* Zero(Dtype dtype);

// Whether the array has elements and their number fits cuDNN.
bool FitsDnn(const Array& a);

// Runs f(dnn) if cuDNN is there and to be used. Returns false if not, or if cuDNN cannot do it; the caller then takes
// the plain kernel. `what`: the operation, for errors.
template <class F>
bool TryDnn(const char* what, const Device& device, F&& f) {
    if (cudnn::Find() == nullptr) return false;
    DnnSettings settings = GetDnnSettings();
    if (!settings.use) return false;
    CurrentDevice current{device};
    try {
        f(Dnn{current, device.index(), settings});
        return true;
    } catch (const cudnn::Failure& failure) {
        if (!failure.IsNotSupported()) cudnn::ThrowError(failure, what);
        return false;
    }
}

}  // namespace chainerx::cuda
