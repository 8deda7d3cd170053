#pragma once

#include <optional>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// Raises an error if a result cannot be written to `out` because of graphs: those of the operands, or its own.
void CheckOut(const char* op, GraphMask operands, const Array& out);
// Writes a result that was computed outside of graphs to an array of the same shape.
void WriteOut(const char* op, const Array& result, const Array& out);

inline GraphMask GetOperandMask(const Array& a) { return internal::GetRecordMask(a); }
template <class T>
GraphMask GetOperandMask(const T&) {
    return 0;
}

// A function of arrays with a further parameter: an array for the result.
template <auto Fn, class Type = decltype(Fn)>
struct WithOut;

template <auto Fn, class... A>
struct WithOut<Fn, Array (*)(A...)> {
    static Array Call(A... args, const std::optional<Array>& out) {
        if (CHAINERX_LIKELY(!out.has_value())) return Fn(args...);
        const char* op = Bound<&Call>::signature.name();
        CheckOut(op, (GetOperandMask(args) | ...), *out);
        WriteOut(op, Fn(args...), *out);
        return *out;
    }
};

void AddWithOut(const Binding& binding, const char* family, Routine routine);

template <auto Fn>
void BindWithOut(const char* family, const Routine& routine) {
    AddWithOut(BindingOf<&WithOut<Fn>::Call>(), family, routine);
}

}  // namespace chainerx::python
