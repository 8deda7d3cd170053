#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chainerx_onnx/model.h"
#include "chainerx_onnx/node.h"
#include "chainerx_onnx/plan.h"

namespace chainerx::onnx {

// What all graphs of a model share while it is planned.
struct Planning {
    const ModelMessage* model;
    std::string folder;  // of external data; empty for none
    Device* device;
    // Called with each part of the model's own bytes that nothing reads again; may be empty.
    std::function<void(std::string_view)> forget;
    int64_t n_nodes{0};
    int depth{0};
};

// Attributes of a function's call, by name.
using Bindings = std::map<std::string, const AttributeMessage*>;

// A value between nodes.
struct PlannedValue {
    std::string name;
    Value constant;  // nothing if it is not known before a run
    int uses{0};     // by nodes and as outputs of the graph
    Node* producer{nullptr};
    bool is_narrow{false};  // integers of fewer bits than those of the array
};

// Makes the plan of a graph. Reads its nodes in their order and runs those that depend on nothing else at once, then
// simplifies the rest (fuse.cc), and finally makes the steps.
class Planner {
public:
    Planner(Planning& planning, const Opsets& opsets, const Bindings& bindings)
        : planning_{planning}, opsets_{opsets}, bindings_{bindings} {}

    // `captured`: values of the graphs around it, which are further inputs; those that are not known are nothing.
    Plan PlanGraph(const GraphMessage& graph, const std::vector<std::string>& captured, const Values& known);
    Plan PlanFunction(const FunctionMessage& function, const Values& known);

    // For simplifications.
    std::deque<Node>& nodes() { return nodes_; }
    PlannedValue& value(int32_t number) { return values_[number]; }
    int32_t AddConstant(const std::string& name, Value value);
    void CountUses();
    // Frees a constant after its last use.
    void DropUse(int32_t number);
    Device& device() const { return *planning_.device; }
    // Runs those nodes whose inputs are known that had to wait for simplifications.
    void FoldRest();

private:
    friend class Node;

    int32_t AddValue(const std::string& name);
    int32_t ValueOf(const std::string& name) const;
    void AddInput(const std::string& name, const Value& known);
    void AddNode(const NodeMessage& message);
    void ReadAttributes(Node* node);
    void Capture(Node* node);
    void CheckNarrow(const Node& node) const;
    void AddInitializer(const TensorMessage& tensor);
    // Runs a node whose inputs are known. False if it has to wait for a run.
    bool Fold(Node* node);
    Kernel MakeKernelOf(const Node& node);
    Plan Finish(const std::vector<std::string>& outputs);

    Planning& planning_;
    const Opsets& opsets_;
    const Bindings& bindings_;
    std::map<std::string, int32_t> names_;
    std::vector<PlannedValue> values_;
    std::deque<Node> nodes_;
    std::vector<int32_t> inputs_;
    std::vector<int32_t> outputs_;
    bool is_waiting_{false};  // whether weights in blocks wait for FuseBlocks

    friend class PlanEmitter;
};

// Whether a node runs an operator of ONNX's own domain. A simplification may have given it another one than the file.
bool Is(const Node& node, const char* op_type);

// Folds batch normalization into convolutions, adds biases to products and convolutions, and joins them with the Relu
// that follows.
void Fuse(Planner& planner);

// Whether a Gemm is a product and a bias, which is `bias` if there is one, for each column.
bool IsLinear(const Node& node, const Array& bias, int64_t columns);

// Weights that DequantizeLinear gives as they are in the file, in few bits, if nothing but a product needs them.
bool IsWeightInBlocks(const Node& node);
void FuseBlocks(Planner& planner);

// Makes products and convolutions of integers of those between pairs of QuantizeLinear and DequantizeLinear, and joins
// such convolutions with what follows.
void FuseIntegers(Planner& planner);

}  // namespace chainerx::onnx
