#include "chainerx/backends/cuda/stream.h"

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/error.h"
#include "chainerx/backends/cuda/event.h"
#include "chainerx/core/blocking.h"

namespace chainerx::cuda {

StreamSet::~StreamSet() {
    for (cudaStream_t stream : all_) cudaStreamDestroy(stream);
}

cudaStream_t StreamSet::Take() {
    std::lock_guard<std::mutex> lock{mutex_};
    if (!free_.empty()) {
        cudaStream_t stream = free_.back();
        free_.pop_back();
        return stream;
    }
    all_.reserve(all_.size() + 1);
    free_.reserve(all_.size() + 1);  // Return must not throw
    cudaStream_t stream{};
    // The default stream would wait for others, and they for it.
    Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    all_.push_back(stream);
    has_several_.store(true, std::memory_order_release);
    return stream;
}

void StreamSet::Return(cudaStream_t stream) noexcept {
    std::lock_guard<std::mutex> lock{mutex_};
    free_.push_back(stream);
}

std::vector<cudaStream_t> StreamSet::GetBusy(cudaStream_t without) {
    std::vector<cudaStream_t> busy;
    auto add = [&](cudaStream_t stream) {
        if (stream != without && cudaStreamQuery(stream) == cudaErrorNotReady) busy.push_back(stream);
    };
    std::lock_guard<std::mutex> lock{mutex_};
    add(nullptr);
    for (cudaStream_t stream : all_) add(stream);
    return busy;
}

CudaStream::~CudaStream() {
    if (stream_ != nullptr) set_.Return(stream_);
}

void CudaStream::Synchronize() {
    BlockingScope blocking;
    CurrentDevice current{device()};
    Check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    CheckFault(GetCudaDevice(device()).fault());
}

bool CudaStream::IsDone() {
    CurrentDevice current{device()};
    cudaError_t error = cudaStreamQuery(stream_);
    if (error == cudaErrorNotReady) return false;
    Check(error, "cudaStreamQuery");
    return true;
}

void CudaStream::WaitFor(Stream& other) {
    if (&other.device().backend() != &device().backend()) {
        other.Synchronize();
        return;
    }
    CurrentDevice first{other.device()};  // which tells the default streams of devices apart
    Event event{reinterpret_cast<cudaStream_t>(other.handle())};
    CurrentDevice second{device()};
    Check(cudaStreamWaitEvent(stream_, event.get(), 0), "cudaStreamWaitEvent");
}

}  // namespace chainerx::cuda
