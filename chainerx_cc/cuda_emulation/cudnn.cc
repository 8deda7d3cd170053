#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cudnn_stand_in.h"

namespace chainerx::cuda::cudnn {
namespace {

constexpr int kMaxNdim = 8;

struct Record {
    std::mutex mutex;
    std::string calls;
    std::string returned;
    std::map<std::string, Status> failures;
};

Record& GetRecord() {
    static auto* record = new Record;
    return *record;
}

template <class T>
Status Create(const char* function, T** desc) {
    Status status = Note(function);
    if (status == Status::kSuccess) *desc = new T{};
    return status;
}
template <class T>
Status Destroy(T* desc) {
    delete desc;
    return Status::kSuccess;
}

bool AllAtLeast(int least, const Sizes& sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [least](int size) { return size >= least; });
}

Status Describe(TensorStruct* desc, DataType type, int ndim, const int* shape) {
    *desc = {type, Sizes(shape, shape + ndim)};
    return ndim >= 3 && ndim <= kMaxNdim && AllAtLeast(1, desc->shape) ? Status::kSuccess : Status::kBadParameter;
}

}  // namespace

Status Note(const char* function, const std::vector<std::pair<const char*, int64_t>>& details) {
    Record& record = GetRecord();
    std::lock_guard<std::mutex> lock{record.mutex};
    record.calls += function;
    for (const auto& [name, value] : details) record.calls += std::string{" "} + name + "=" + std::to_string(value);
    record.calls += '\n';
    auto failure = record.failures.find(function);
    return failure == record.failures.end() ? Status::kSuccess : failure->second;
}

Status Submit(const char* function, Handle handle, bool is_valid, std::function<void()> work,
              const std::vector<std::pair<const char*, int64_t>>& details) {
    Status status = Note(function, details);
    if (status != Status::kSuccess) return status;
    if (!is_valid) return Status::kBadParameter;
    cudaLaunchConfig_t config{};
    config.stream = handle->stream;
    return cudaEmulateLaunch(config, std::move(work)) == cudaSuccess ? Status::kSuccess : Status::kBadParameter;
}

extern "C" {

size_t cudnnGetVersion() {
    const char* version = std::getenv("CHAINERX_CUDA_EMULATION_CUDNN");
    return version == nullptr ? 90000 : std::strtoul(version, nullptr, 10);
}

const char* cudnnGetErrorString(Status status) {
    switch (status) {
        case Status::kSuccess:
            return "CUDNN_STATUS_SUCCESS";
        case Status::kBadParameter:
            return "CUDNN_STATUS_BAD_PARAM";
        case Status::kNotSupported:
            return "CUDNN_STATUS_NOT_SUPPORTED";
    }
    return "unknown status";
}

void cudnnGetLastErrorString(char* message, size_t size) { std::snprintf(message, size, "of the emulation"); }

Status cudnnCreate(Handle* handle) { return Create("Create", handle); }
Status cudnnSetStream(Handle handle, cudaStream_t stream) {
    handle->stream = stream;
    return Status::kSuccess;
}

Status cudnnCreateTensorDescriptor(Tensor* desc) { return Create("CreateTensorDescriptor", desc); }
Status cudnnSetTensorNdDescriptor(Tensor desc, DataType type, int ndim, const int* shape, const int* strides) {
    int step = 1;
    for (int d = ndim - 1; d >= 0; --d) {
        if (strides[d] != step) return Status::kNotSupported;
        step *= shape[d];
    }
    return Describe(desc, type, ndim, shape);
}
Status cudnnDestroyTensorDescriptor(Tensor desc) { return Destroy(desc); }

Status cudnnCreatePoolingDescriptor(Pooling* desc) { return Create("CreatePoolingDescriptor", desc); }
Status cudnnSetPoolingNdDescriptor(Pooling desc, PoolingMode mode, NanPropagation nan, int ndim, const int* kernel,
                                   const int* pad, const int* stride) {
    *desc = {mode, Sizes(kernel, kernel + ndim), Sizes(pad, pad + ndim), Sizes(stride, stride + ndim)};
    bool is_valid = nan == NanPropagation::kYes && ndim >= 2 && AllAtLeast(1, desc->kernel) &&
                    AllAtLeast(0, desc->pad) && AllAtLeast(1, desc->stride);
    for (int d = 0; d < ndim; ++d) is_valid = is_valid && pad[d] < kernel[d];
    return is_valid ? Status::kSuccess : Status::kBadParameter;
}
Status cudnnDestroyPoolingDescriptor(Pooling desc) { return Destroy(desc); }

}  // extern "C"

}  // namespace chainerx::cuda::cudnn

const char* cudnnEmulatedCalls() {
    auto& record = chainerx::cuda::cudnn::GetRecord();
    std::lock_guard<std::mutex> lock{record.mutex};
    record.returned = std::exchange(record.calls, "");
    return record.returned.c_str();
}

void cudnnEmulatedFail(const char* function, int status) {
    auto& record = chainerx::cuda::cudnn::GetRecord();
    std::lock_guard<std::mutex> lock{record.mutex};
    record.failures.erase(function);
    if (status != 0) record.failures[function] = static_cast<chainerx::cuda::cudnn::Status>(status);
}
