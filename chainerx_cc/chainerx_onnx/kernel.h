#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

using Arrays = std::vector<Array>;

// Values of a run by number: those below zero are constants of the plan.
struct ValueTable {
    const Value* constants;
    Value* slots;
};

// What an operator takes.
enum class Operands : uint8_t {
    kArrays,
    kMoved,     // elements that only change places, which may be strings
    kCompared,  // elements of which only matters which are equal, and which may be strings
    kValues,    // values of any kind, as its function says
};

// The inputs of a node. One that is missing is no array and no value.
class Inputs {
public:
    Inputs(const ValueTable& values, const int32_t* numbers, int size)
        : values_{values}, numbers_{numbers}, size_{size} {}

    int size() const { return size_; }
    const Value& value(int i) const {
        int32_t number = numbers_[i];
        return number < 0 ? values_.constants[~number] : values_.slots[number];
    }
    const Array& operator[](int i) const { return value(i).array(); }
    // Raises ModelError if there is something else than an array.
    bool Has(int i) const {
        if (i >= size_) return false;
        if ((*this)[i]) return true;
        if (value(i)) ThrowNoArray(i);
        return false;
    }
    std::optional<Array> Optional(int i) const { return Has(i) ? std::optional{(*this)[i]} : std::nullopt; }
    Arrays From(int first) const {
        Arrays out;
        for (int i = first; i < size_; ++i) out.push_back(Has(i) ? (*this)[i] : Array{});
        return out;
    }
    Values ValuesFrom(int first) const {
        Values out;
        for (int i = first; i < size_; ++i) out.push_back(value(i));
        return out;
    }
    // Says what is wrong with an input that has to be an array.
    [[noreturn]] void ThrowNoArray(int i) const;

private:
    ValueTable values_;
    const int32_t* numbers_;
    int size_;
};

// What a node does at each run: a function object of the inputs, which gives an array, a value, Arrays or Values, and
// whose members are what was read of the node when the model was loaded.
class Kernel {
public:
    Kernel() = default;
    template <class F, std::enable_if_t<std::is_invocable_v<const F&, const Inputs&>, int> = 0>
    Kernel(F f)  // NOLINT(runtime/explicit)
        : state_{new F{std::move(f)}, [](void* p) { delete static_cast<F*>(p); }}, call_{&Call<F>} {}

    explicit operator bool() const { return call_ != nullptr; }
    // Writes outputs to slots.
    void operator()(const Inputs& in, Value* slots, const int32_t* outputs, int n_outputs) const {
        call_(state_.get(), in, slots, outputs, n_outputs);
    }

private:
    template <class F>
    static void Call(const void* state, const Inputs& in, Value* slots, const int32_t* outputs, int n_outputs) {
        const F& f = *static_cast<const F*>(state);
        if constexpr (std::is_same_v<decltype(f(in)), Array> || std::is_same_v<decltype(f(in)), Value>) {
            slots[outputs[0]] = f(in);
        } else {
            auto ys = f(in);
            for (int i = 0; i < n_outputs && i < static_cast<int>(ys.size()); ++i) slots[outputs[i]] = std::move(ys[i]);
        }
    }

    std::shared_ptr<void> state_;
    void (*call_)(const void*, const Inputs&, Value*, const int32_t*, int){nullptr};
};

// The outputs that a kernel gives for inputs.
Values CallKernel(const Kernel& kernel, const Values& inputs, int n_outputs);

// Runs a kernel whose input `i`, which it needs, is no array. If the operands may be strings, they are places of
// strings for it; else this raises ModelError.
void RunWithoutArray(const Kernel& kernel, Operands operands, int i, const Inputs& in, Value* slots,
                     const int32_t* outputs, int n_outputs);

// Runs the kernel of a node whose first `n_required` inputs have to be arrays, or strings if `operands` says so.
CHAINERX_INLINE void RunKernel(const Kernel& kernel, Operands operands, int n_required, const Inputs& in, Value* slots,
                               const int32_t* outputs, int n_outputs) {
    for (int i = 0; i < n_required; ++i) {
        if (CHAINERX_UNLIKELY(!in[i])) return RunWithoutArray(kernel, operands, i, in, slots, outputs, n_outputs);
    }
    kernel(in, slots, outputs, n_outputs);
}

}  // namespace chainerx::onnx
