#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "chainerx/core/device.h"
#include "chainerx/core/error.h"
#include "chainerx/core/kernel_watch.h"
#include "chainerx/core/macro.h"

namespace chainerx {

class Context;

struct TakesComplex {};
inline constexpr TakesComplex kTakesComplex{};

// Identifies a kernel. The kernels of a backend are a table indexed by it.
class KernelSlotBase {
public:
    // Kernels of elementwise operations read a functor of so many bytes.
    explicit KernelSlotBase(const char* name, int functor_bytes = 0);
    // A kernel that also takes complex arrays.
    KernelSlotBase(const char* name, TakesComplex);
    const char* name() const { return name_; }
    int id() const { return id_; }
    int functor_bytes() const { return functor_bytes_; }
    bool takes_complex() const { return takes_complex_; }
    bool operator==(const KernelSlotBase& other) const { return id_ == other.id_; }

    // All slots in the program, ordered by id. Libraries that are loaded later may add slots.
    static std::vector<const KernelSlotBase*> All();

private:
    const char* name_;
    int id_;
    int functor_bytes_;
    bool takes_complex_{false};
};

// Increase this if code compiled with older headers no longer works with the library: if the layout of a public class,
// the order of virtual functions or the arguments of a kernel change.
constexpr int kAbiVersion = 9;

namespace internal {
template <int kVersion>
struct AbiVersion {};

template <class T>
constexpr bool IsComplexArray(const T&) {
    return false;
}
inline bool IsComplexArray(const Array& a) { return a && IsComplex(a.dtype()); }

// Names the dtype of the first complex array.
template <class T, class... Rest>
[[noreturn]] __attribute__((noinline, cold)) void ThrowComplexArray(const char* name, const T& first,
                                                                    const Rest&... rest) {
    if constexpr (std::is_same_v<T, Array>) {
        if (IsComplexArray(first)) ThrowComplex(name, first.dtype());
    }
    if constexpr (sizeof...(Rest) != 0) ThrowComplexArray(name, rest...);
    ThrowComplex(name, Dtype::kComplex64);
}
}  // namespace internal

// A set of named devices and the kernels that run on them. Third-party backends derive from this class. A shared
// library with one has the file name `<name>.so` and exports
//
//     extern "C" chainerx::Backend* CreateBackend(chainerx::Context& context);
//
// whose result the caller owns.
class Backend {
public:
    // The last argument keeps a library that was compiled for another version from loading: it finds no such symbol.
    Backend(Context& context, std::string name, internal::AbiVersion<kAbiVersion> = {});
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;
    virtual ~Backend() = default;

    Context& context() const { return context_; }
    const std::string& name() const { return name_; }

    virtual int GetDeviceCount() const = 0;
    Device& GetDevice(int index);

    void* FindKernel(const KernelSlotBase& slot) const noexcept {
        auto id = static_cast<size_t>(slot.id());
        return id < kernels_.size() ? kernels_[id] : nullptr;
    }
    // None while threads watch the backend.
    void* FindUnwatchedKernel(const KernelSlotBase& slot) const noexcept {
        auto id = static_cast<size_t>(slot.id());
        return id < unwatched_count_.load(std::memory_order_relaxed) ? kernels_[id] : nullptr;
    }
    // While watched, calls of kernels look for a watcher of their thread (core/kernel_watch.h). Calls may be nested.
    void Watch();
    void Unwatch();
    void SetKernel(const KernelSlotBase& slot, void* kernel);
    [[noreturn]] void ThrowMissingKernel(const KernelSlotBase& slot) const;

protected:
    virtual std::unique_ptr<Device> CreateDevice(int index) = 0;

private:
    Context& context_;
    std::string name_;
    std::vector<void*> kernels_;
    std::atomic<size_t> unwatched_count_{0};  // the size of the table, or 0 while watched
    int watch_count_{0};
    std::mutex mutex_;
    std::vector<std::unique_ptr<Device>> devices_;
};

// A kernel that ops call and backends supply. `Fn` is a function type.
template <class Fn>
class KernelSlot : public KernelSlotBase {
public:
    using KernelSlotBase::KernelSlotBase;
    using Function = Fn;

    // The kernel of a device, or null: for kernels that tell something and change nothing, which no watcher need see.
    Fn* Find(Device& device) const { return reinterpret_cast<Fn*>(device.backend().FindKernel(*this)); }

    void Register(Backend& backend, Fn* fn) const { backend.SetKernel(*this, reinterpret_cast<void*>(fn)); }

    template <class... Args>
    auto operator()(Device& device, Args&&... args) const {
        if (CHAINERX_UNLIKELY((internal::IsComplexArray(args) || ...)) && !takes_complex()) {
            internal::ThrowComplexArray(name(), args...);
        }
        void* kernel = device.backend().FindUnwatchedKernel(*this);
        if (CHAINERX_UNLIKELY(kernel == nullptr)) {
            return internal::CallWatched<Fn>::Call(*this, device, std::forward<Args>(args)...);
        }
        return reinterpret_cast<Fn*>(kernel)(std::forward<Args>(args)...);
    }
};

}  // namespace chainerx
