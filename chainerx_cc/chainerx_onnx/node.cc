#include "chainerx_onnx/node.h"

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {

Device& Node::device() const { return planner_->device(); }

Array Node::Constant(int i) const { return HasInput(i) ? planner_->value(inputs[i]).constant : Array{}; }

const AttributeMessage* Node::Find(const char* name) const {
    const AttributeMessage* attribute = Peek(name);
    if (attribute != nullptr) read_.insert(name);
    return attribute;
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

Array Node::SparseTensor(const char* name) const {
    const AttributeMessage* attribute = Find(name);
    if (attribute == nullptr || !attribute->sparse) throw ModelError{"its attribute '", name, "' is empty"};
    return ToDevice(ReadSparseTensor(*attribute->sparse, planner_->planning_.folder), device());
}

int Node::Choice(const char* name, std::initializer_list<const char*> words) const {
    std::string word = String(name, *words.begin());
    int i = 0;
    for (const char* each : words) {
        if (word == each) return i;
        ++i;
    }
    throw ModelError{"its attribute '", name, "' is '", word, "'"};
}

std::shared_ptr<const Plan> Node::Body(const char* name) const {
    const AttributeMessage& attribute = Get(name, AttributeType::kGraph);
    if (!attribute.g) throw ModelError{"its attribute '", name, "' is empty"};
    Arrays known;
    for (int i = input_count() - captured_count_; i < input_count(); ++i) known.push_back(Constant(i));
    Planner body{planner_->planning_, planner_->opsets_, planner_->bindings_};
    return std::make_shared<Plan>(body.PlanGraph(*attribute.g, captured_, known));
}

void Node::Ignore(std::initializer_list<const char*> names) const {
    for (const char* name : names) Find(name);
}

const char* Node::UnreadAttribute() const {
    for (const auto& [name, attribute] : attributes_) {
        if (read_.count(name) == 0) return name.c_str();
    }
    return nullptr;
}

std::string Node::Label() const {
    std::string label = "node ";
    if (!message->name.empty()) label += "'" + message->name + "' ";
    return label + "(" + (message->domain.empty() ? "" : message->domain + ".") + message->op_type + ")";
}

}  // namespace chainerx::onnx
