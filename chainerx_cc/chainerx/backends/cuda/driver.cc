#include "chainerx/backends/cuda/driver.h"

#include <cuda_runtime.h>

#include <map>
#include <mutex>

namespace chainerx::cuda {
namespace {

// What this uses of the interface of the driver.
struct ContextStruct;
using Context = ContextStruct*;
constexpr unsigned kVersion = 12000;  // of the functions

struct Driver {
    Driver() {
        Get(get_device, "cuDeviceGet");
        Get(retain_context, "cuDevicePrimaryCtxRetain");
        Get(push_context, "cuCtxPushCurrent");
        Get(pop_context, "cuCtxPopCurrent");
    }

    template <class F>
    void Get(F*& function, const char* name) {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result{};
        cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
        if (error == cudaSuccess && result == cudaDriverEntryPointSuccess) function = reinterpret_cast<F*>(found);
        is_complete = is_complete && function != nullptr;
    }

    // The context that CUDA's runtime uses on a device; null without one. It stays as long as the process.
    Context GetContext(int index) {
        std::lock_guard<std::mutex> lock{mutex};
        Context& context = contexts[index];
        int device = 0;
        if (context == nullptr && get_device(&device, index) == 0) retain_context(&context, device);
        return context;
    }

    bool is_complete{true};
    int (*get_device)(int* device, int index){};
    int (*retain_context)(Context* context, int device){};
    int (*push_context)(Context context){};
    int (*pop_context)(Context* context){};

private:
    std::mutex mutex;
    std::map<int, Context> contexts;  // by device
};

Driver& GetDriver() {
    static auto* driver = new Driver;
    return *driver;
}

}  // namespace

bool PushDevice(int index) noexcept {
    Driver& driver = GetDriver();
    if (!driver.is_complete) return false;
    Context context = driver.GetContext(index);
    return context != nullptr && driver.push_context(context) == 0;
}

void PopDevice() noexcept {
    Context context = nullptr;
    GetDriver().pop_context(&context);
}

}  // namespace chainerx::cuda
