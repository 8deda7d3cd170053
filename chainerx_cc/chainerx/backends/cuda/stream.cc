#include "chainerx/backends/cuda/stream.h"

#include <algorithm>
#include <utility>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/error.h"
#include "chainerx/backends/cuda/event.h"
#include "chainerx/core/blocking.h"

namespace chainerx::cuda {
namespace {

// Numbers that stand for streams of CUDA.
constexpr uintptr_t kLegacyStream = 1;  // the default stream
constexpr uintptr_t kThreadStream = 2;  // the default stream of the calling thread, which nothing here uses

}  // namespace

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

bool StreamSet::AddForeign(cudaStream_t stream, Owner owner) {
    std::lock_guard<std::mutex> lock{mutex_};
    if (std::find(all_.begin(), all_.end(), stream) != all_.end()) return false;
    for (Foreign& f : foreign_) {
        if (f.stream != stream) continue;
        ++f.users;
        return true;
    }
    foreign_.push_back({stream, std::move(owner), 1});
    foreign_count_.store(foreign_.size(), std::memory_order_release);
    has_several_.store(true, std::memory_order_release);
    return true;
}

StreamSet::Owner StreamSet::CountUser(cudaStream_t stream, int change) noexcept {
    Owner owner;
    std::lock_guard<std::mutex> lock{mutex_};
    auto f = std::find_if(foreign_.begin(), foreign_.end(), [stream](const Foreign& f) { return f.stream == stream; });
    if (f == foreign_.end()) return owner;
    f->users += change;
    if (f->users == 0) {
        owner = std::move(f->owner);
        foreign_.erase(f);
        foreign_count_.store(foreign_.size(), std::memory_order_release);
    }
    return owner;
}

std::vector<cudaStream_t> StreamSet::GetBusy(cudaStream_t without) {
    std::vector<cudaStream_t> busy;
    auto add = [&](cudaStream_t stream) {
        if (stream != without && cudaStreamQuery(stream) == cudaErrorNotReady) busy.push_back(stream);
    };
    std::lock_guard<std::mutex> lock{mutex_};
    add(nullptr);
    for (cudaStream_t stream : all_) add(stream);
    for (const Foreign& f : foreign_) add(f.stream);
    return busy;
}

CudaStream::CudaStream(Device& device, cudaStream_t stream, StreamSet& set, StreamSet::Owner owner)
    : Stream{device},
      stream_{stream},
      set_{set},
      is_taken_{false},
      is_foreign_{set.AddForeign(stream, std::move(owner))} {}

CudaStream::~CudaStream() {
    if (is_foreign_) {
        StreamSet::Owner owner = set_.RemoveUser(stream_);
    } else if (is_taken_) {
        set_.Return(stream_);
    }
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

std::unique_ptr<RecordedWork> CudaStream::Record(const std::function<void()>& submit) {
    return GetCudaDevice(device()).Record(submit);
}

StreamPtr CudaStream::Wrap(uintptr_t handle, std::shared_ptr<void> owner) {
    if (handle <= kLegacyStream) return device().GetDefaultStream();
    if (handle == kThreadStream) {
        throw DeviceError{"the default stream of a thread is another one in each thread: arrays cannot be made in it"};
    }
    return StreamPtr{new CudaStream{device(), reinterpret_cast<cudaStream_t>(handle), set_, std::move(owner)}};
}

void CudaStream::LetWait(uintptr_t handle) {
    auto stream = reinterpret_cast<cudaStream_t>(handle == kLegacyStream ? 0 : handle);
    if (stream == stream_) return;
    CurrentDevice current{device()};
    Event event{stream_};
    Check(cudaStreamWaitEvent(stream, event.get(), 0), "cudaStreamWaitEvent");
}

}  // namespace chainerx::cuda
