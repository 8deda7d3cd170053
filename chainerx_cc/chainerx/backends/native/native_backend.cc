#include "chainerx/backends/native/native_backend.h"

#include <cstring>
#include <new>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/kernels/blas.h"
#include "chainerx/backends/native/kernels/gemm.h"
#include "chainerx/backends/native/kernels/thread_pool.h"
#include "chainerx/core/context.h"
#include "chainerx/core/places.h"

namespace chainerx::native {
namespace {

// The storage object and its data share one block; the data is aligned to cache lines.
constexpr size_t kHeader = 64;
static_assert(sizeof(Storage) <= kHeader);

void FreeStorage(Storage* storage) noexcept {
    size_t bytes = storage->bytes();
    storage->~Storage();
    Free(storage, bytes + kHeader);
}

}  // namespace

NativeBackend::NativeBackend(Context& context) : Backend{context, kName} {
    InitBlas();  // loaded now, when few threads run that read environment variables
    NativeKernels::RegisterAll(*this);
}

std::unique_ptr<Device> NativeBackend::CreateDevice(int index) { return std::make_unique<NativeDevice>(*this, index); }

StoragePtr NativeDevice::Allocate(size_t bytes) {
    if (StoragePtr storage = TakePlace(bytes, *this)) return storage;
    char* block = static_cast<char*>(native::Allocate(bytes + kHeader));
    return StoragePtr{new (block) Storage{block + kHeader, bytes, *this, &FreeStorage}};
}

void NativeDevice::CopyFromHost(void* dst, const void* src, size_t bytes) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
}
void NativeDevice::CopyToHost(void* dst, const void* src, size_t bytes) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
}

void NativeDevice::FreeUnusedBlocks() { ReleaseCachedMemory(); }

int GetThreadCount() { return GetNumThreads(); }
void SetThreadCount(int n) { SetNumThreads(n); }

BlasCore GetBlasCore() { return {GetBlas().core_type, GetBlas().reason, HasOneOrder(GetBlas().core_type)}; }

namespace {

// Makes the backend known to contexts.
const struct Registration {
    Registration() {
        RegisterBackend(NativeBackend::kName, [](Context& context) -> std::unique_ptr<Backend> {
            return std::make_unique<NativeBackend>(context);
        });
    }
} g_registration;

}  // namespace
}  // namespace chainerx::native
