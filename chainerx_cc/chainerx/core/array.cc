#include "chainerx/core/array.h"

#include <atomic>
#include <new>

#include "chainerx/core/backend.h"
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_watch.h"

namespace chainerx {
namespace {

std::atomic<int64_t> g_live_bodies{0};

// Apart from the fast path, which keeps the pointer in a register.
__attribute__((noinline, cold)) void NoteAllocation(Storage* storage) {
    internal::t_kernel_watcher->OnAllocate(StoragePtr{storage});
}

}  // namespace

ArrayBody::ArrayBody(const Shape& shape_, const Strides& strides_, Dtype dtype_, Device& device_, StoragePtr storage_,
                     int64_t offset_)
    : shape{shape_},
      strides{strides_},
      size{shape_.GetTotalSize()},
      dtype{dtype_},
      is_contiguous{chainerx::IsContiguous(shape_, strides_, GetItemSize(dtype_))},
      device{&device_},
      storage{std::move(storage_)},
      offset{offset_},
      data{static_cast<char*>(storage->data()) + offset_} {
    g_live_bodies.fetch_add(1, std::memory_order_relaxed);
}

ArrayBody::ArrayBody(const Shape& shape_, Dtype dtype_, Device& device_, StoragePtr storage_)
    : shape{shape_},
      strides{shape_, GetItemSize(dtype_)},
      size{shape_.GetTotalSize()},
      dtype{dtype_},
      is_contiguous{true},
      device{&device_},
      storage{std::move(storage_)},
      offset{0},
      data{static_cast<char*>(storage->data())} {
    g_live_bodies.fetch_add(1, std::memory_order_relaxed);
}

ArrayBody::~ArrayBody() {
    if (CHAINERX_UNLIKELY(node() != nullptr)) DropNode();
    g_live_bodies.fetch_sub(1, std::memory_order_relaxed);
}

int64_t ArrayBody::GetLiveCount() noexcept { return g_live_bodies.load(); }

Array Array::AsDetached() const {
    return Array{
            IntrusivePtr<ArrayBody>{new ArrayBody{shape(), strides(), dtype(), device(), body_->storage, offset()}}};
}

namespace internal {

Array MakeArray(const Shape& shape, const Strides& strides, Dtype dtype, Device& device, StoragePtr storage,
                int64_t offset) {
    CheckShape(shape, GetItemSize(dtype));
    return Array{IntrusivePtr<ArrayBody>{new ArrayBody{shape, strides, dtype, device, std::move(storage), offset}}};
}

Array MakeView(const Array& a, const Shape& shape, const Strides& strides, int64_t offset) {
    return MakeArray(shape, strides, a.dtype(), a.device(), a.body()->storage, offset);
}

}  // namespace internal

Array Empty(const Shape& shape, Dtype dtype, Device& device) {
    CheckShape(shape, GetItemSize(dtype));
    if (CHAINERX_UNLIKELY(IsComplex(dtype) && !device.HasComplex())) {
        throw NotImplementedError{"arrays of dtype ", dtype, " are not supported on ", device.backend().name()};
    }
    size_t bytes = shape.GetTotalSize() * GetItemSize(dtype);
    StoragePtr storage;
    try {
        storage = device.Allocate(bytes);
    } catch (const MemoryError&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw MemoryError{bytes, device.name()};
    }
    if (CHAINERX_UNLIKELY(internal::t_kernel_watcher != nullptr)) NoteAllocation(storage.get());
    return Array{IntrusivePtr<ArrayBody>{new ArrayBody{shape, dtype, device, std::move(storage)}}};
}

void ThrowDeviceMismatch(const Device& a, const Device& b) {
    throw DeviceError{"arrays must be on the same device, but one is on '", a.name(), "' and another on '", b.name(),
                      "'; use to_device"};
}

}  // namespace chainerx
