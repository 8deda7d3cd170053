#include "chainerx_onnx/node.h"

#include <algorithm>

#include "chainerx_onnx/domains.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {

Device& Node::device() const { return planner_->device(); }

Value Node::Known(int i) const { return HasInput(i) ? planner_->value(inputs[i]).constant : Value{}; }

const AttributeMessage* Node::Find(const char* name) const {
    const AttributeMessage* attribute = Peek(name);
    return attribute != nullptr ? attribute : schema_->Default(name, opset_);
}

const AttributeMessage& Node::Get(const char* name, AttributeType type) const {
    const AttributeMessage* attribute = Find(name);
    if (attribute == nullptr) throw ModelError{"its attribute '", name, "' is missing"};
    if (attribute->type != type) {
        throw ModelError{"its attribute '",     name, "' has the type ", static_cast<int>(attribute->type), ", not ",
                         static_cast<int>(type)};
    }
    return *attribute;
}

Array Node::Tensor(const char* name) const {
    const AttributeMessage& attribute = Get(name, AttributeType::kTensor);
    if (!attribute.t) throw ModelError{"its attribute '", name, "' is empty"};
    return ToDevice(ReadTensor(*attribute.t, planner_->planning_.folder), device());
}

Value Node::TensorOrStrings(const char* name) const {
    const AttributeMessage& attribute = Get(name, AttributeType::kTensor);
    if (!attribute.t) throw ModelError{"its attribute '", name, "' is empty"};
    return ReadValue(*attribute.t, planner_->planning_.folder, device());
}

Array Node::SparseTensor(const char* name) const {
    const AttributeMessage* attribute = Find(name);
    if (attribute == nullptr || !attribute->sparse) throw ModelError{"its attribute '", name, "' is empty"};
    return ToDevice(ReadSparseTensor(*attribute->sparse, planner_->planning_.folder), device());
}

std::optional<Dtype> Node::OptionalType(const char* name) const {
    int64_t type = OptionalInt(name).value_or(0);
    return type == 0 ? std::nullopt : std::optional{DtypeOf(static_cast<int32_t>(type))};
}

int Node::Choice(const char* name) const {
    const AttributeDomain* domain = FindDomain(op_type(), name);
    return domain != nullptr && Has(name) ? PlaceOfWord(name, String(name), domain->words) : 0;
}

std::shared_ptr<const Plan> Node::Body(const char* name) const {
    const AttributeMessage& attribute = Get(name, AttributeType::kGraph);
    if (!attribute.g) throw ModelError{"its attribute '", name, "' is empty"};
    Values known;
    for (int i = input_count() - captured_count_; i < input_count(); ++i) known.push_back(Known(i));
    Planner body{planner_->planning_, planner_->opsets_, planner_->bindings_};
    return std::make_shared<Plan>(body.PlanGraph(*attribute.g, captured_, known));
}

int Node::RequiredInputs() const {
    if (op == nullptr) return 0;
    if (schema_->max_inputs() == kAnyNumber && op->purity == Purity::kPure) return input_count();
    const std::set<int>& optional = schema_->At(opset_).optional;
    return optional.empty() ? schema_->min_inputs() : std::min(schema_->min_inputs(), *optional.begin());
}

int Node::RequiredArrays() const { return op == nullptr || op->operands == Operands::kValues ? 0 : RequiredInputs(); }

void Node::CheckSchema() const {
    int count = input_count();
    if (count < schema_->min_inputs() || count > schema_->max_inputs()) {
        std::string most = schema_->max_inputs() == kAnyNumber ? "inf" : std::to_string(schema_->max_inputs());
        throw ModelError{"it has ", count, " inputs, and the operator takes ", schema_->min_inputs(), " to ", most};
    }
    for (int i = 0; i < RequiredInputs(); ++i) {
        if (!HasInput(i)) throw ModelError{"its input ", i, " is missing"};
    }
    for (const auto& [name, attribute] : schema_->At(opset_).attributes) {
        int input = attribute.is_required ? InputOf(name.c_str()) : -1;
        if (attribute.is_required && Peek(name) == nullptr && !(input >= 0 && HasInput(input))) {
            throw ModelError{"its attribute '", name, "' is missing"};
        }
    }
    for (const auto& [name, attribute] : attributes_) {
        if (!schema_->HasAttribute(name)) throw ModelError{"there is no attribute '", name, "'"};
    }
}

std::string Node::Label() const {
    std::string label = "node ";
    if (!message->name.empty()) label += "'" + message->name + "' ";
    return label + "(" + (message->domain.empty() ? "" : message->domain + ".") + message->op_type + ")";
}

}  // namespace chainerx::onnx
