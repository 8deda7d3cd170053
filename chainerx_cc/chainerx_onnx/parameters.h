#pragma once

// Operators that are plain functions. What one takes of a node follows from the types of its parameters:
//
//   const Array&                  the next input; no array if it is missing
//   std::optional<Array>          the same, for functions of ChainerX
//   const Arrays&                 all further inputs
//   const Value&, const Values&   the same for values of any kind
//   const Inputs&                 all inputs
//   Device&                       where the node runs
//   a class made of a Node        what it reads
//   all others                    the next of the attributes that the operator's row names
//
// Integers and lists of them may be attributes in some opsets and inputs in others. An int8_t is an axis of the first
// input, Axes are some, counted from its first; an enumeration is a word of attribute_values.txt.

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "chainerx/core/shape.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/kernel.h"
#include "chainerx_onnx/node.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {

using Ints = std::vector<int64_t>;

// An axis, which may be negative. Raises ModelError if there is none.
inline int8_t CheckAxis(int64_t axis, int ndim) {
    if (axis < -ndim || axis >= ndim) throw ModelError{"there is no axis ", axis, " among ", ndim};
    return static_cast<int8_t>(axis < 0 ? axis + ndim : axis);
}

inline Axes CheckAxes(const Ints& axes, int ndim) {
    Axes out;
    for (int64_t axis : axes) out.push_back(CheckAxis(axis, ndim));
    return out;
}

// Integers that are an attribute in some opsets and an input in others. An input that is known at load is read then.
class IntsParameter {
public:
    // `name`: of the attribute and of the input.
    IntsParameter(const Node& node, const std::string& name) : input_{node.InputOf(name.c_str())}, name_{name} {
        if (node.Peek(name) != nullptr || (input_ < 0 && node.Has(name.c_str()))) {
            known_ = node.IntOrInts(name.c_str());
        } else if (input_ >= 0 && node.HasInput(input_)) {
            if (Array constant = node.Constant(input_)) known_ = ReadInts(constant);
        } else {
            input_ = -1;
        }
        is_given_ = known_ || input_ >= 0;
    }

    bool is_given() const { return is_given_; }
    void Require() const {
        if (!is_given_) throw ModelError{"its attribute '", name_, "' is missing"};
    }
    // The values; none if they are not given.
    Ints Read(const Inputs& in) const {
        if (known_) return *known_;
        return input_ >= 0 && in.Has(input_) ? ReadInts(in[input_]) : Ints{};
    }
    // The only value.
    int64_t ReadOne(const Inputs& in) const {
        Ints values = Read(in);
        if (values.size() != 1) throw ModelError{"expected one integer, not ", values.size()};
        return values[0];
    }

private:
    int input_;
    std::string name_;
    bool is_given_;
    std::optional<Ints> known_;
};

// The opset of a node, for functions that differ between opsets.
class Opset {
public:
    explicit Opset(const Node& node) : Opset{node.opset()} {}
    explicit Opset(int64_t value) : value_{value} {}
    operator int64_t() const { return value_; }  // NOLINT(runtime/explicit)

private:
    int64_t value_;
};

// Which outputs something uses.
class WantedOutputs {
public:
    explicit WantedOutputs(const Node& node) {
        for (int i = 0; i < node.output_count(); ++i) wanted_.push_back(node.HasOutput(i));
    }
    bool operator[](size_t i) const { return i < wanted_.size() && wanted_[i]; }

private:
    std::vector<bool> wanted_;
};

// A node whose parameters are read one after the other.
struct ParameterSource {
    explicit ParameterSource(const Node& from) : node{from}, names{from.op->attributes} {}

    std::string NextName() {
        std::string name;
        names >> name;
        if (node.InputOf(name.c_str()) == input) ++input;
        return name;
    }

    const Node& node;
    std::istringstream names;
    int input{0};  // the number of the next one
};

// What a type of a parameter reads of a node, and gives at each run.
template <class T>
class Parameter {
public:
    explicit Parameter(ParameterSource& source) : value_{Read(source)} {}
    const T& operator()(const Inputs&) const { return value_; }

private:
    static T Read(ParameterSource& source) {
        const Node& node = source.node;
        if constexpr (std::is_constructible_v<T, const Node&>) {
            return T{node};
        } else {
            std::string text = source.NextName();
            const char* name = text.c_str();
            if constexpr (std::is_enum_v<T> && !std::is_same_v<T, Dtype>) return static_cast<T>(node.Choice(name));
            if constexpr (std::is_same_v<T, bool>) return node.Flag(name);
            if constexpr (std::is_same_v<T, double>) return node.Float(name);
            if constexpr (std::is_same_v<T, std::optional<double>>) return node.OptionalFloat(name);
            if constexpr (std::is_same_v<T, std::string>) return node.String(name);
            if constexpr (std::is_same_v<T, std::optional<std::string>>) return node.OptionalString(name);
            if constexpr (std::is_same_v<T, std::vector<float>>) return node.FloatsOrNone(name);
            if constexpr (std::is_same_v<T, std::vector<std::string>>) return node.StringsOrNone(name);
            if constexpr (std::is_same_v<T, Dtype>) return DtypeOf(static_cast<int32_t>(node.Int(name)));
            if constexpr (std::is_same_v<T, std::optional<Dtype>>) return node.OptionalType(name);
        }
    }

    T value_;
};

template <>
class Parameter<Array> {
public:
    explicit Parameter(ParameterSource& source) : i_{source.input++} {}
    const Array& operator()(const Inputs& in) const { return i_ < in.size() ? in[i_] : none_; }

private:
    int i_;
    Array none_;
};

template <>
class Parameter<std::optional<Array>> {
public:
    explicit Parameter(ParameterSource& source) : i_{source.input++} {}
    std::optional<Array> operator()(const Inputs& in) const { return in.Optional(i_); }

private:
    int i_;
};

template <>
class Parameter<Arrays> {
public:
    explicit Parameter(ParameterSource& source) : first_{source.input} {}
    Arrays operator()(const Inputs& in) const { return in.From(first_); }

private:
    int first_;
};

template <>
class Parameter<Value> {
public:
    explicit Parameter(ParameterSource& source) : i_{source.input++} {}
    const Value& operator()(const Inputs& in) const { return i_ < in.size() ? in.value(i_) : none_; }

private:
    int i_;
    Value none_;
};

template <>
class Parameter<Values> {
public:
    explicit Parameter(ParameterSource& source) : first_{source.input} {}
    Values operator()(const Inputs& in) const { return in.ValuesFrom(first_); }

private:
    int first_;
};

template <>
class Parameter<Inputs> {
public:
    explicit Parameter(ParameterSource&) {}
    const Inputs& operator()(const Inputs& in) const { return in; }
};

template <>
class Parameter<Device> {
public:
    explicit Parameter(ParameterSource& source) : device_{&source.node.device()} {}
    Device& operator()(const Inputs&) const { return *device_; }

private:
    Device* device_;
};

// Integers: kRead(parameter, in) gives them.
template <auto kRead, bool kIsRequired>
class IntegersParameter {
public:
    explicit IntegersParameter(ParameterSource& source) : values_{source.node, source.NextName()} {
        if (kIsRequired) values_.Require();
    }
    auto operator()(const Inputs& in) const {
        if constexpr (kIsRequired) {
            return kRead(values_, in);
        } else {
            return values_.is_given() ? std::optional{kRead(values_, in)} : std::nullopt;
        }
    }

private:
    IntsParameter values_;
};

inline Ints ReadList(const IntsParameter& p, const Inputs& in) { return p.Read(in); }
inline int64_t ReadInteger(const IntsParameter& p, const Inputs& in) { return p.ReadOne(in); }
inline int8_t ReadAxis(const IntsParameter& p, const Inputs& in) { return CheckAxis(p.ReadOne(in), in[0].ndim()); }
inline Axes ReadAxes(const IntsParameter& p, const Inputs& in) { return CheckAxes(p.Read(in), in[0].ndim()); }

#define CHAINERX_ONNX_INTEGERS(Type, Read)                                         \
    template <>                                                                    \
    class Parameter<Type> : public IntegersParameter<Read, true> {                 \
        using IntegersParameter<Read, true>::IntegersParameter;                    \
    };                                                                             \
    template <>                                                                    \
    class Parameter<std::optional<Type>> : public IntegersParameter<Read, false> { \
        using IntegersParameter<Read, false>::IntegersParameter;                   \
    };
CHAINERX_ONNX_INTEGERS(Ints, ReadList)
CHAINERX_ONNX_INTEGERS(int64_t, ReadInteger)
CHAINERX_ONNX_INTEGERS(int8_t, ReadAxis)
CHAINERX_ONNX_INTEGERS(Axes, ReadAxes)
#undef CHAINERX_ONNX_INTEGERS

template <class Result, class... Types>
Kernel BindParameters(const Node& node, Result (*function)(Types...)) {
    ParameterSource source{node};
    // Braces keep the order of the parameters.
    std::tuple<Parameter<std::decay_t<Types>>...> parameters{Parameter<std::decay_t<Types>>{source}...};
    return [function, parameters = std::move(parameters)](const Inputs& in) {
        return std::apply([&](const auto&... each) { return function(each(in)...); }, parameters);
    };
}

// What a node of an operator does that is a function.
template <auto kFunction>
Kernel Call(const Node& node) {
    return BindParameters(node, kFunction);
}

}  // namespace chainerx::onnx
