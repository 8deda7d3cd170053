// Recorded work, as a CUDA graph.

#include "chainerx/backends/cuda/graph.h"

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "chainerx/backends/cuda/cuda_backend.h"
#include "chainerx/backends/cuda/error.h"

namespace chainerx::cuda {
namespace {

thread_local const Device* t_recorded{nullptr};

class Graph final : public RecordedWork {
public:
    Graph(const Device& device, cudaGraph_t graph) : device_{device} {
        Check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    }
    ~Graph() override {
        CurrentDevice current{device_};
        cudaGraphExecDestroy(executable_);
    }
    void Submit() override {
        CurrentDevice current{device_};
        Check(cudaGraphLaunch(executable_, current.stream()), "cudaGraphLaunch");
    }

private:
    const Device& device_;
    cudaGraphExec_t executable_{};
};

// The stream whose work is recorded. It is none of the program's, so that memory that comes free is not kept waiting
// for it.
class RecordedStream final : public Stream {
public:
    RecordedStream(Device& device, cudaStream_t stream) : Stream{device}, stream_{stream} {}
    uintptr_t handle() const override { return reinterpret_cast<uintptr_t>(stream_); }

private:
    cudaStream_t stream_;
};

class RecordingScope {
public:
    RecordingScope(Device& device, cudaStream_t stream) : scope_{StreamPtr{new RecordedStream{device, stream}}} {
        t_recorded = &device;
    }
    ~RecordingScope() { t_recorded = nullptr; }
    RecordingScope(const RecordingScope&) = delete;
    RecordingScope& operator=(const RecordingScope&) = delete;

private:
    StreamScope scope_;
};

}  // namespace

bool IsRecording(const Device& device) noexcept { return t_recorded == &device; }

std::unique_ptr<RecordedWork> CudaDevice::Record(const std::function<void()>& submit) {
    CurrentDevice current{*this};
    std::lock_guard<std::mutex> lock{recording_mutex_};
    if (recorded_stream_ == nullptr) {
        Check(cudaStreamCreateWithFlags(&recorded_stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
    Check(cudaStreamBeginCapture(recorded_stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    bool is_recorded = true;
    try {
        RecordingScope scope{*this, recorded_stream_};
        submit();
    } catch (...) {
        is_recorded = false;  // nothing was done, so whoever does it in place of this sees other errors again
    }
    cudaGraph_t graph = nullptr;
    is_recorded &= cudaStreamEndCapture(recorded_stream_, &graph) == cudaSuccess;
    std::unique_ptr<RecordedWork> work;
    if (is_recorded) {
        work = std::make_unique<Graph>(*this, graph);
    } else {
        cudaGetLastError();
    }
    if (graph != nullptr) cudaGraphDestroy(graph);
    return work;
}

}  // namespace chainerx::cuda
