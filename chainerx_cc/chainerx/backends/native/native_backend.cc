#include "chainerx/backends/native/native_backend.h"

#include <cstring>
#include <new>

#include "chainerx/backends/native/kernels/allocator.h"
#include "chainerx/backends/native/register.h"
#include "chainerx/core/context.h"

namespace chainerx {
namespace native {
namespace {

// The storage object lies in front of its data, in one block; data stays aligned to cache lines.
constexpr size_t kHeader = 64;
static_assert(sizeof(Storage) <= kHeader);

void FreeStorage(Storage* storage) noexcept {
    size_t bytes = storage->bytes();
    storage->~Storage();
    Free(storage, bytes + kHeader);
}

}  // namespace

NativeBackend::NativeBackend(Context& context) : Backend{context, kName} {
    RegisterArithmeticKernels(*this);
    RegisterComparisonKernels(*this);
    RegisterExplogKernels(*this);
    RegisterTrigonometricKernels(*this);
    RegisterSpecialKernels(*this);
    RegisterActivationKernels(*this);
    RegisterCopyKernels(*this);
    RegisterReduceKernels(*this);
    RegisterArgReduceKernels(*this);
    RegisterScanKernels(*this);
    RegisterIndexingKernels(*this);
    RegisterGemmKernels(*this);
    RegisterFactorizationKernels(*this);
    RegisterSoftmaxKernels(*this);
    RegisterConvolutionKernels(*this);
    RegisterPoolingKernels(*this);
    RegisterNormalizationKernels(*this);
    RegisterRnnKernels(*this);
    RegisterRnnLayerKernels(*this);
    RegisterSortingKernels(*this);
    RegisterRandomKernels(*this);
    RegisterAttentionKernels(*this);
    RegisterOptimizerKernels(*this);
}

std::unique_ptr<Device> NativeBackend::CreateDevice(int index) { return std::make_unique<NativeDevice>(*this, index); }

StoragePtr NativeDevice::Allocate(size_t bytes) {
    char* block = static_cast<char*>(native::Allocate(bytes + kHeader));
    return StoragePtr{new (block) Storage{block + kHeader, bytes, *this, &FreeStorage}};
}

void NativeDevice::CopyFromHost(void* dst, const void* src, size_t bytes) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
}
void NativeDevice::CopyToHost(void* dst, const void* src, size_t bytes) {
    if (bytes != 0) std::memcpy(dst, src, bytes);
}

}  // namespace native

namespace internal {

std::unique_ptr<Backend> MakeNativeBackend(Context& context) {
    return std::make_unique<native::NativeBackend>(context);
}

}  // namespace internal
}  // namespace chainerx
