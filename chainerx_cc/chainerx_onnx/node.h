#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx_onnx/kernel.h"
#include "chainerx_onnx/model.h"
#include "chainerx_onnx/schema.h"

namespace chainerx::onnx {

class Plan;
class Planner;
struct Operator;

// A node while its model is planned.
class Node {
public:
    // -- For operators, which read the node once.

    const std::string& op_type() const { return message->op_type; }
    int64_t opset() const { return opset_; }
    Device& device() const;

    int input_count() const { return static_cast<int>(inputs.size()); }
    int output_count() const { return static_cast<int>(outputs.size()); }
    bool HasInput(int i) const { return i < input_count() && inputs[i] >= 0; }
    bool HasOutput(int i) const { return i < output_count() && outputs[i] >= 0; }
    // An input that is known now, or no array.
    Array Constant(int i) const { return Known(i).array(); }
    // The same for values of any kind; nothing if it is not known.
    Value Known(int i) const;

    // Says that the kernel keeps what it needs of a constant input, which runs then do not keep.
    void Consume(int i) const { consumed_.insert(i); }

    // The number of an input by its name in the schema, or -1.
    int InputOf(const char* name) const { return schema_->InputOf(name); }

    // Attributes, with the defaults of the schema. One that is missing and has none raises ModelError.
    bool Has(const char* name) const { return Find(name) != nullptr; }
    int64_t Int(const char* name) const { return Get(name, AttributeType::kInt).i; }
    bool Flag(const char* name) const { return Int(name) != 0; }
    double Float(const char* name) const { return Get(name, AttributeType::kFloat).f; }
    std::optional<int64_t> OptionalInt(const char* name) const {
        return Has(name) ? std::optional{Int(name)} : std::nullopt;
    }
    std::optional<double> OptionalFloat(const char* name) const {
        return Has(name) ? std::optional{Float(name)} : std::nullopt;
    }
    // An element type; none if it is missing or 0.
    std::optional<Dtype> OptionalType(const char* name) const;
    std::string String(const char* name) const { return Get(name, AttributeType::kString).s; }
    std::optional<std::string> OptionalString(const char* name) const {
        return Has(name) ? std::optional{String(name)} : std::nullopt;
    }
    const std::vector<int64_t>& Ints(const char* name) const { return Get(name, AttributeType::kInts).ints; }
    // A list of integers, or the only one.
    std::vector<int64_t> IntOrInts(const char* name) const {
        const AttributeMessage* attribute = Find(name);
        bool is_one = attribute != nullptr && attribute->type == AttributeType::kInt;
        return is_one ? std::vector{attribute->i} : Ints(name);
    }
    std::optional<std::vector<int64_t>> OptionalInts(const char* name) const {
        return Has(name) ? std::optional{Ints(name)} : std::nullopt;
    }
    std::vector<int64_t> IntsOrNone(const char* name) const { return Has(name) ? Ints(name) : std::vector<int64_t>{}; }
    const std::vector<float>& Floats(const char* name) const { return Get(name, AttributeType::kFloats).floats; }
    std::vector<float> FloatsOrNone(const char* name) const { return Has(name) ? Floats(name) : std::vector<float>{}; }
    const std::vector<std::string>& Strings(const char* name) const {
        return Get(name, AttributeType::kStrings).strings;
    }
    std::vector<std::string> StringsOrNone(const char* name) const {
        return Has(name) ? Strings(name) : std::vector<std::string>{};
    }
    Array Tensor(const char* name) const;
    Value TensorOrStrings(const char* name) const;
    Array SparseTensor(const char* name) const;
    // The place of a word in the list of attribute_values.txt, in whose order enumerations of operators are; 0 if the
    // attribute is missing. Raises ModelError if the word is not in the list.
    int Choice(const char* name) const;
    // A graph, which is run with its own inputs and then `captured` values of the graphs around.
    std::shared_ptr<const Plan> Body(const char* name) const;
    int captured_count() const { return captured_count_; }

    // -- For the planner

    std::string Label() const;
    void SetAttribute(const std::string& name, const AttributeMessage* attribute) { attributes_[name] = attribute; }
    // The attributes that the file gives, and one of them or null.
    const std::map<std::string, const AttributeMessage*>& attributes() const { return attributes_; }
    const AttributeMessage* Peek(const std::string& name) const {
        auto it = attributes_.find(name);
        return it == attributes_.end() ? nullptr : it->second;
    }
    // Raises ModelError if its inputs or attributes are not those of the schema.
    void CheckSchema() const;
    // How many of the first inputs it cannot do without: all, if it takes any number.
    int RequiredInputs() const;
    // How many of these have to be arrays, or strings that stand for some: none, if its function takes any values.
    int RequiredArrays() const;

    const NodeMessage* message{nullptr};
    const Operator* op{nullptr};
    std::vector<int32_t> inputs;  // numbers of values, negative for a missing one
    std::vector<int32_t> outputs;
    bool relu{false};  // a following Relu, or Clip from zero on, is part of this node
    double most{std::numeric_limits<double>::infinity()};  // that it lets through
    bool is_dead{false};

private:
    friend class Planner;
    friend class PlanEmitter;

    const AttributeMessage* Find(const char* name) const;
    const AttributeMessage& Get(const char* name, AttributeType type) const;

    Planner* planner_{nullptr};
    const Schema* schema_{nullptr};
    int64_t opset_{0};
    int captured_count_{0};
    std::vector<std::string> captured_;
    std::map<std::string, const AttributeMessage*> attributes_;
    mutable std::set<int> consumed_;
};

}  // namespace chainerx::onnx
