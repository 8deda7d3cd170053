#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "chainerx_onnx/model.h"

namespace chainerx::onnx {

// An operator as it is from an opset on. onnx_chainer/schemas.txt has them, and explains its form.
struct SchemaForm {
    struct Attribute {
        AttributeType type;
        bool is_required{false};
        bool has_default{false};
        AttributeMessage value;  // the default
    };

    int64_t since{1};
    std::vector<std::string> inputs;
    std::set<int> optional;  // numbers of inputs that may be missing
    int min_inputs{0};
    int max_inputs{0};
    std::map<std::string, Attribute> attributes;
};

constexpr int kAnyNumber = 1 << 30;

// What ONNX says of an operator in all opsets.
class Schema {
public:
    // Of an operator of the table, which must have it.
    static const Schema& Of(const std::string& domain, const std::string& name);

    const SchemaForm& At(int64_t opset) const;
    // The default of an attribute in an opset, or null. An attribute that this opset does not have is as in another.
    const AttributeMessage* Default(const std::string& attribute, int64_t opset) const;
    bool HasAttribute(const std::string& name) const;
    // The number of an input, by its name in any opset but for the case, or -1.
    int InputOf(const std::string& name) const;
    // In any opset.
    int min_inputs() const { return min_inputs_; }
    int max_inputs() const { return max_inputs_; }

private:
    friend class SchemaTable;
    std::vector<SchemaForm> forms_;  // the oldest first
    int min_inputs_{kAnyNumber};
    int max_inputs_{0};
};

}  // namespace chainerx::onnx
