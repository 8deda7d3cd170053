#pragma once

// Watching a thread: the kernels that it calls, the arrays that it makes, the random numbers that it draws. A watcher
// gets each call as an object that can repeat it. Kernels that a kernel calls are part of its call.

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/random_generator.h"

namespace chainerx {

class KernelSlotBase;

// Sees the arguments of a call that change when it is repeated.
class ArgumentVisitor {
public:
    virtual ~ArgumentVisitor() = default;
    virtual void Visit(Array& array) = 0;
    virtual void Visit(RandomStream& stream) = 0;
    // Scalars that change from step to step, such as learning rates and loss scales.
    virtual void Visit(std::vector<double>& scalars) = 0;
};

// An argument as its caller passes it. The slot tells what the type does not.
template <class T>
struct GivenArgument {
    const T& value;
    const KernelSlotBase& slot;
};

// Types of arguments that are values without arrays or pointers. Specialized beside the types.
template <class T>
inline constexpr bool kIsKernelValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// How the object of a call keeps an argument. Calls with arguments of other types cannot be repeated.
template <class T, class = void>
struct KeptArgument {
    static constexpr bool kExists = false;
};

template <class T>
struct KeptArgument<T, std::enable_if_t<kIsKernelValue<T>>> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<T>& given) : value{given.value} {}
    const T& Get() const { return value; }
    void Accept(ArgumentVisitor&) {}
    T value;
};

namespace internal {
// The same elements, without graphs.
inline Array KeptArray(const Array& a) { return a ? a.AsDetached() : Array{}; }
}  // namespace internal

template <>
struct KeptArgument<Array> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<Array>& given) : value{internal::KeptArray(given.value)} {}
    const Array& Get() const { return value; }
    void Accept(ArgumentVisitor& visitor) { visitor.Visit(value); }
    Array value;
};

template <>
struct KeptArgument<std::vector<Array>> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<std::vector<Array>>& given) {
        for (const Array& a : given.value) values.push_back(internal::KeptArray(a));
    }
    const std::vector<Array>& Get() const { return values; }
    void Accept(ArgumentVisitor& visitor) {
        for (Array& a : values) visitor.Visit(a);
    }
    std::vector<Array> values;
};

template <>
struct KeptArgument<RandomStream> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<RandomStream>& given) : value{given.value} {}
    const RandomStream& Get() const { return value; }
    void Accept(ArgumentVisitor& visitor) { visitor.Visit(value); }
    RandomStream value;
};

template <>
struct KeptArgument<std::vector<double>> {
    static constexpr bool kExists = true;
    explicit KeptArgument(const GivenArgument<std::vector<double>>& given) : values{given.value} {}
    const std::vector<double>& Get() const { return values; }
    void Accept(ArgumentVisitor& visitor) { visitor.Visit(values); }
    std::vector<double> values;
};

// For structures whose arrays are the members given.
template <class T, Array T::*... kArrays>
struct KeptStructure {
    static constexpr bool kExists = true;
    explicit KeptStructure(const GivenArgument<T>& given) : value{given.value} {
        ((value.*kArrays = internal::KeptArray(value.*kArrays)), ...);
    }
    const T& Get() const { return value; }
    void Accept(ArgumentVisitor& visitor) { (visitor.Visit(value.*kArrays), ...); }
    T value;
};

// A call of a kernel that can be repeated.
class KernelCall {
public:
    explicit KernelCall(const KernelSlotBase& slot) : slot_{slot} {}
    KernelCall(const KernelCall&) = delete;
    KernelCall& operator=(const KernelCall&) = delete;
    virtual ~KernelCall() = default;

    virtual void Run() const = 0;
    virtual void Accept(ArgumentVisitor& visitor) = 0;
    // The first argument of a type, or null.
    template <class T>
    const T* Find() const {
        return static_cast<const T*>(FindArgument(typeid(T)));
    }
    const KernelSlotBase& slot() const { return slot_; }
    virtual std::string GetName() const;

private:
    virtual const void* FindArgument(const std::type_info& type) const = 0;

    const KernelSlotBase& slot_;
};

class KernelWatcher {
public:
    virtual ~KernelWatcher() = default;
    // Before the kernel runs.
    virtual void OnCall(std::unique_ptr<KernelCall> call) = 0;
    virtual void OnAllocate(const StoragePtr& storage) = 0;
    virtual void OnRandom(const RandomStream& stream, int64_t count) = 0;
    // Something happened that no repetition of kernels repeats.
    virtual void OnGraphBreak(const std::string& what) = 0;
};

namespace internal {

#if defined(__linux__)
extern __thread KernelWatcher* t_kernel_watcher __attribute__((tls_model("initial-exec")));
#else
extern __thread KernelWatcher* t_kernel_watcher;
#endif

// The thread's watcher, which sees nothing while this object lives.
class UnwatchedScope {
public:
    UnwatchedScope() noexcept;
    ~UnwatchedScope();
    UnwatchedScope(const UnwatchedScope&) = delete;
    UnwatchedScope& operator=(const UnwatchedScope&) = delete;
    KernelWatcher* watcher() const { return watcher_; }

private:
    KernelWatcher* watcher_;
};

// The kernel, of a backend that threads watch; raises if there is none.
void* RequireKernel(const KernelSlotBase& slot, Device& device);
void NoteUnknownCall(KernelWatcher& watcher, const KernelSlotBase& slot);

template <class... P>
class KeptCall final : public KernelCall {
public:
    KeptCall(const KernelSlotBase& slot, void (*fn)(P...), const GivenArgument<std::decay_t<P>>&... given)
        : KernelCall{slot}, fn_{fn}, arguments_{given...} {}

    void Run() const override {
        std::apply([this](const auto&... kept) { fn_(kept.Get()...); }, arguments_);
    }
    void Accept(ArgumentVisitor& visitor) override {
        std::apply([&visitor](auto&... kept) { (kept.Accept(visitor), ...); }, arguments_);
    }

private:
    const void* FindArgument(const std::type_info& type) const override {
        const void* found = nullptr;
        auto look = [&](const auto& value) {
            if (found == nullptr && typeid(value) == type) found = &value;
        };
        std::apply([&look](const auto&... kept) { (look(kept.Get()), ...); }, arguments_);
        return found;
    }

    void (*fn_)(P...);
    std::tuple<KeptArgument<std::decay_t<P>>...> arguments_;
};

// Calls a kernel that a watcher may want to see.
template <class Fn>
struct CallWatched;

template <class R, class... P>
struct CallWatched<R(P...)> {
    __attribute__((noinline)) static R Call(const KernelSlotBase& slot, Device& device, P... args) {
        auto* fn = reinterpret_cast<R (*)(P...)>(RequireKernel(slot, device));
        UnwatchedScope unwatched;
        if (KernelWatcher* watcher = unwatched.watcher()) {
            if constexpr (std::is_void_v<R> && (KeptArgument<std::decay_t<P>>::kExists && ...)) {
                watcher->OnCall(
                        std::make_unique<KeptCall<P...>>(slot, fn, GivenArgument<std::decay_t<P>>{args, slot}...));
            } else {
                NoteUnknownCall(*watcher, slot);
            }
        }
        return fn(args...);
    }
};

}  // namespace internal

// Tells a watcher of the thread, if there is one, of something that no repetition of kernels repeats.
void NoteGraphBreak(const char* what);

// Makes a watcher that of the thread, or none for null. Kernels of backends are seen while they are watched; see
// Backend::Watch.
KernelWatcher* ExchangeKernelWatcher(KernelWatcher* watcher) noexcept;

}  // namespace chainerx
