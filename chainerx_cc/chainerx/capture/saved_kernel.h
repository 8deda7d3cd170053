#pragma once

// Kernels whose calls files have. A file may come from anywhere, and kernels trust their arguments; so a kernel is in
// the table only with a test that tells which arguments it takes.

#include <iterator>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/capture/known_positions.h"
#include "chainerx/capture/program.h"
#include "chainerx/core/backend.h"
#include "chainerx/core/kernels.h"
#include "chainerx/ops/attention.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/normalization.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/window.h"

namespace chainerx {

class SavedKernel {
public:
    explicit SavedKernel(const KernelSlotBase& slot) : slot_{slot} {}
    virtual ~SavedKernel() = default;
    const KernelSlotBase& slot() const { return slot_; }
    virtual void Write(KernelCall& call, ProgramWriter& out) const = 0;
    // Raises ValueError if the kernel does not take the arguments, or the device lacks it.
    virtual std::unique_ptr<KernelCall> Read(ProgramReader& in, KnownPositions& positions) const = 0;

private:
    const KernelSlotBase& slot_;
};

using SavedKernels = std::vector<std::unique_ptr<SavedKernel>>;

// Null if there is none of the name.
const SavedKernel* FindSavedKernel(std::string_view name);
// All of them.
const SavedKernels& GetSavedKernels();
// Parts of the table.
void AddSavedOps(SavedKernels& kernels);
void AddSavedLayers(SavedKernels& kernels);

// An argument of a call, in files.
template <class T, class = void>
struct SavedArgument;

template <class T>
struct SavedArgument<T, std::enable_if_t<std::is_integral_v<T>>> {
    static void Write(const T& value, ProgramWriter& out) { out.bytes.Integer(value); }
    SavedArgument(ProgramReader& in, const KernelSlotBase&) {
        int64_t read = in.bytes.Integer();
        value = static_cast<T>(read);
        if (static_cast<int64_t>(value) != read) throw ValueError{"a number is out of range"};
    }
    const T& Get() const { return value; }
    T value;
};

template <class T>
struct SavedArgument<T, std::enable_if_t<std::is_enum_v<T>>> {
    static void Write(const T& value, ProgramWriter& out) { out.bytes.Number(static_cast<uint64_t>(value)); }
    SavedArgument(ProgramReader& in, const KernelSlotBase&)
        : value{static_cast<T>(in.bytes.Index(std::size(EnumWords<T>::kWords)))} {}
    const T& Get() const { return value; }
    T value;
};

// Structures with functions of their own below.
#define CHAINERX_SAVED_ARGUMENT(Type)                                 \
    template <>                                                       \
    struct SavedArgument<Type> {                                      \
        static void Write(const Type& value, ProgramWriter& out);     \
        SavedArgument(ProgramReader& in, const KernelSlotBase& slot); \
        const Type& Get() const { return value; }                     \
        Type value;                                                   \
    }
CHAINERX_SAVED_ARGUMENT(double);
CHAINERX_SAVED_ARGUMENT(Array);
CHAINERX_SAVED_ARGUMENT(std::vector<Array>);
CHAINERX_SAVED_ARGUMENT(std::vector<double>);
CHAINERX_SAVED_ARGUMENT(Scalar);
CHAINERX_SAVED_ARGUMENT(Axes);
CHAINERX_SAVED_ARGUMENT(RandomStream);
CHAINERX_SAVED_ARGUMENT(WindowGeometry);
CHAINERX_SAVED_ARGUMENT(TakeGeometry);
CHAINERX_SAVED_ARGUMENT(BatchNormOptions);
CHAINERX_SAVED_ARGUMENT(AttentionOptions);
#undef CHAINERX_SAVED_ARGUMENT

template <>
struct SavedArgument<ElementwiseCall> {
    // The call refers to the rest, which stays where it is.
    struct Parts {
        ElementwiseCall call{};
        Array arrays[1 + kMaxElementwiseInputs];
        std::vector<std::max_align_t> functor;
    };
    static void Write(const ElementwiseCall& call, const KernelSlotBase& slot, ProgramWriter& out);
    SavedArgument(ProgramReader& in, const KernelSlotBase& slot);
    const ElementwiseCall& Get() const { return parts->call; }
    std::unique_ptr<Parts> parts;
};

// The arrays among the arguments of a call, in order.
class ArrayArguments final : public ArgumentVisitor {
public:
    void Visit(Array& array) override { arrays_.push_back(array); }
    void Visit(RandomStream&) override {}
    void Visit(std::vector<double>&) override {}
    const Array& Next() { return arrays_.at(next_++); }

private:
    std::vector<Array> arrays_;
    size_t next_{0};
};

template <class... P>
class SavedKernelOf final : public SavedKernel {
public:
    // Whether the kernel takes the arguments.
    using Fits = bool (*)(KnownPositions& positions, P... arguments);

    SavedKernelOf(const KernelSlotBase& slot, Fits fits) : SavedKernel{slot}, fits_{fits} {}

    void Write(KernelCall& call, ProgramWriter& out) const override {
        ArrayArguments arrays;
        call.Accept(arrays);
        (WriteArgument<std::decay_t<P>>(call, arrays, out), ...);
    }

    std::unique_ptr<KernelCall> Read(ProgramReader& in, KnownPositions& positions) const override {
        // Braces keep the order of the arguments.
        std::tuple<SavedArgument<std::decay_t<P>>...> read{SavedArgument<std::decay_t<P>>{in, slot()}...};
        auto make = [&](const auto&... each) { return Make(in.device(), positions, each.Get()...); };
        return std::apply(make, read);
    }

private:
    // A call tells its arrays in order, and of other arguments the first one of each type.
    template <class T>
    static constexpr bool kIsOnly = std::is_same_v<T, Array> || (std::is_same_v<T, std::decay_t<P>> + ...) == 1;
    static_assert((kIsOnly<std::decay_t<P>> && ...), "two arguments are of one type");

    template <class T>
    void WriteArgument(const KernelCall& call, ArrayArguments& arrays, ProgramWriter& out) const {
        if constexpr (std::is_same_v<T, Array>) {
            out.Write(arrays.Next());
        } else {
            const T* value = call.Find<T>();
            if (value == nullptr) throw ValueError{"a call of '", call.GetName(), "' has arguments of its own"};
            if constexpr (std::is_same_v<T, ElementwiseCall>) {
                SavedArgument<T>::Write(*value, slot(), out);
            } else {
                SavedArgument<T>::Write(*value, out);
            }
        }
    }

    std::unique_ptr<KernelCall> Make(Device& device, KnownPositions& positions, P... arguments) const {
        auto* fn = reinterpret_cast<void (*)(P...)>(device.backend().FindKernel(slot()));
        if (fn == nullptr) throw ValueError{"the device '", device.name(), "' lacks the kernel"};
        auto call = std::make_unique<internal::KeptCall<P...>>(slot(), fn,
                                                               GivenArgument<std::decay_t<P>>{arguments, slot()}...);
        positions.Begin(*call);
        if (!fits_(positions, arguments...)) throw ValueError{"the kernel does not take these arguments"};
        positions.End();
        return call;
    }

    Fits fits_;
};

template <class... P>
void AddSavedKernel(SavedKernels& kernels, const KernelSlot<void(P...)>& slot,
                    typename SavedKernelOf<P...>::Fits fits) {
    kernels.push_back(std::make_unique<SavedKernelOf<P...>>(slot, fits));
}

}  // namespace chainerx
