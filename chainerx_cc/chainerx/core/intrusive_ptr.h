#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace chainerx {

// Reference count for objects held by IntrusivePtr. Starts at zero.
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;

    void AddRef() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

    // Returns true if that was the last reference. Classes that use TryAddRef need DropObservedRef instead.
    bool DropRef() const noexcept { return IsLastRef() || DropObservedRef(); }

    // Makes a weak reference a strong one, unless the object is already being destroyed.
    bool TryAddRef() const noexcept {
        uint32_t n = count_.load(std::memory_order_relaxed);
        while (n != 0) {
            if (count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) return true;
        }
        return false;
    }

    uint32_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }

protected:
    ~RefCounted() = default;

    // Whether the caller's reference is the only one. If so, no other thread owns the object.
    bool IsLastRef() const noexcept { return count_.load(std::memory_order_acquire) == 1; }
    bool DropObservedRef() const noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

private:
    mutable std::atomic<uint32_t> count_{0};
};

// Shared ownership. `T` provides `static void Destroy(T*) noexcept`, called when the last reference goes.
template <class T>
class IntrusivePtr {
public:
    IntrusivePtr() noexcept = default;
    IntrusivePtr(std::nullptr_t) noexcept {}  // NOLINT
    explicit IntrusivePtr(T* p) noexcept : p_{p} {
        if (p_ != nullptr) p_->AddRef();
    }
    // Takes over a reference that the caller already owns.
    static IntrusivePtr Adopt(T* p) noexcept {
        IntrusivePtr r;
        r.p_ = p;
        return r;
    }
    IntrusivePtr(const IntrusivePtr& o) noexcept : IntrusivePtr{o.p_} {}
    IntrusivePtr(IntrusivePtr&& o) noexcept : p_{std::exchange(o.p_, nullptr)} {}
    IntrusivePtr& operator=(IntrusivePtr o) noexcept {
        std::swap(p_, o.p_);
        return *this;
    }
    ~IntrusivePtr() {
        if (p_ != nullptr && p_->DropRef()) T::Destroy(p_);
    }

    T* get() const noexcept { return p_; }
    T* operator->() const noexcept { return p_; }
    T& operator*() const noexcept { return *p_; }
    explicit operator bool() const noexcept { return p_ != nullptr; }
    T* Release() noexcept { return std::exchange(p_, nullptr); }

private:
    T* p_{nullptr};
};

}  // namespace chainerx
