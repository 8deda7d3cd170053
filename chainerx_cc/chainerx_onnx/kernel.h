#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"

namespace chainerx::onnx {

using Arrays = std::vector<Array>;

// Values of a run by number: those below zero are constants of the plan.
struct ValueTable {
    const Array* constants;
    Array* slots;
};

// The inputs of a node. One that is missing is no array.
class Inputs {
public:
    Inputs(const ValueTable& values, const int32_t* numbers, int size)
        : values_{values}, numbers_{numbers}, size_{size} {}

    int size() const { return size_; }
    const Array& operator[](int i) const {
        int32_t number = numbers_[i];
        return number < 0 ? values_.constants[~number] : values_.slots[number];
    }
    bool Has(int i) const { return i < size_ && static_cast<bool>((*this)[i]); }
    std::optional<Array> Optional(int i) const { return Has(i) ? std::optional{(*this)[i]} : std::nullopt; }
    Arrays From(int first) const {
        Arrays out;
        for (int i = first; i < size_; ++i) out.push_back((*this)[i]);
        return out;
    }

private:
    ValueTable values_;
    const int32_t* numbers_;
    int size_;
};

// What a node does at each run: a function object of the inputs, which gives an array or Arrays, and whose members are
// what was read of the node when the model was loaded.
class Kernel {
public:
    Kernel() = default;
    template <class F, std::enable_if_t<std::is_invocable_v<const F&, const Inputs&>, int> = 0>
    Kernel(F f)  // NOLINT(runtime/explicit)
        : state_{new F{std::move(f)}, [](void* p) { delete static_cast<F*>(p); }}, call_{&Call<F>} {}

    explicit operator bool() const { return call_ != nullptr; }
    // Writes outputs to slots.
    void operator()(const Inputs& in, Array* slots, const int32_t* outputs, int n_outputs) const {
        call_(state_.get(), in, slots, outputs, n_outputs);
    }

private:
    template <class F>
    static void Call(const void* state, const Inputs& in, Array* slots, const int32_t* outputs, int n_outputs) {
        const F& f = *static_cast<const F*>(state);
        if constexpr (std::is_same_v<decltype(f(in)), Array>) {
            slots[outputs[0]] = f(in);
        } else {
            Arrays ys = f(in);
            for (int i = 0; i < n_outputs && i < static_cast<int>(ys.size()); ++i) slots[outputs[i]] = std::move(ys[i]);
        }
    }

    std::shared_ptr<void> state_;
    void (*call_)(const void*, const Inputs&, Array*, const int32_t*, int){nullptr};
};

}  // namespace chainerx::onnx
