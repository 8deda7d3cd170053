#include "chainerx_onnx/planner.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "chainerx/ops/manipulation.h"
#include "chainerx_onnx/domains.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

// A file may call functions that call functions. These bound what a small file can grow to.
constexpr int64_t kMaxNodes = 1'000'000;
constexpr int kMaxCallDepth = 64;
// Constants that need more memory than this are computed at each run instead.
constexpr int64_t kMaxFoldedBytes = int64_t{1} << 26;

// The names that a graph takes from those around it.
void FindFree(const GraphMessage& graph, std::set<std::string> known, std::vector<std::string>* out) {
    for (const ValueMessage& value : graph.inputs) known.insert(value.name);
    for (const TensorMessage& tensor : graph.initializers) known.insert(tensor.name);
    for (const SparseTensorMessage& tensor : graph.sparse_initializers) known.insert(tensor.values.name);
    auto use = [&](const std::string& name) {
        if (!name.empty() && known.count(name) == 0 && std::find(out->begin(), out->end(), name) == out->end()) {
            out->push_back(name);
        }
    };
    for (const NodeMessage& node : graph.nodes) {
        for (const std::string& name : node.inputs) use(name);
        for (const AttributeMessage& attribute : node.attributes) {
            if (attribute.g) FindFree(*attribute.g, known, out);
        }
        known.insert(node.outputs.begin(), node.outputs.end());
    }
    for (const ValueMessage& value : graph.outputs) use(value.name);
}

const FunctionMessage* FindFunction(const ModelMessage& model, const NodeMessage& node) {
    for (const FunctionMessage& f : model.functions) {
        if (f.name == node.op_type && f.domain == node.domain && f.overload == node.overload) return &f;
    }
    return nullptr;
}

// About the memory of a value.
int64_t BytesOf(const Value& value) {
    if (value.array()) return value.array().GetNBytes();
    if (const auto* strings = value.As<Strings>()) {
        return static_cast<int64_t>(strings->items.size() * sizeof(std::string));
    }
    int64_t bytes = 0;
    if (const auto* sequence = value.As<Sequence>()) {
        for (const Value& item : sequence->items) bytes += BytesOf(item);
    }
    return bytes;
}

// Nodes that only rename their input.
bool IsIdentity(const Node& node) {
    if (node.op == nullptr || !node.message->domain.empty() || !node.HasInput(0) || !node.HasOutput(0)) return false;
    if (node.op_type() == "Identity") return true;
    if (node.op_type() != "Dropout" || node.HasOutput(1) || node.opset() < 7) return false;
    if (!node.HasInput(2)) return true;
    Array training = node.Constant(2);
    return training && training.GetTotalSize() == 1 && !static_cast<bool>(AsScalar(training));
}

// Calls f, in whose errors it names the node.
template <class F>
void Naming(const Node& node, const F& f) {
    try {
        f();
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        std::string text = error.what();
        throw ModelError{text.rfind("node ", 0) == 0 ? text : node.Label() + ": " + text};
    }
}

// Runs the plan of a function; inputs at the end may be missing.
Kernel MakeFunctionKernel(std::shared_ptr<const Plan> plan) {
    return [plan = std::move(plan)](const Inputs& in) {
        Values inputs = in.ValuesFrom(0);
        inputs.resize(plan->input_count());
        return plan->Run(inputs);
    };
}

}  // namespace

Plan Planner::PlanGraph(const GraphMessage& graph, const std::vector<std::string>& captured, const Values& known) {
    std::set<std::string> initializers;
    for (const TensorMessage& tensor : graph.initializers) initializers.insert(tensor.name);
    for (const ValueMessage& value : graph.inputs) {
        // Those of old files name their initializers, too.
        if (initializers.count(value.name) == 0) AddInput(value.name, Value{});
    }
    for (size_t i = 0; i < captured.size(); ++i) AddInput(captured[i], known[i]);
    for (const TensorMessage& tensor : graph.initializers) {
        AddInitializer(tensor);
        // Bodies of loops and functions may be planned more than once.
        if (&graph == &planning_.model->graph && planning_.forget && tensor.raw_data) {
            planning_.forget(*tensor.raw_data);
        }
    }
    for (const SparseTensorMessage& tensor : graph.sparse_initializers) {
        Array dense = ToDevice(ReadSparseTensor(tensor, planning_.folder), device());
        names_[tensor.values.name] = AddConstant(tensor.values.name, std::move(dense));
    }
    for (const NodeMessage& node : graph.nodes) AddNode(node);
    std::vector<std::string> outputs;
    for (const ValueMessage& value : graph.outputs) outputs.push_back(value.name);
    return Finish(outputs);
}

Plan Planner::PlanFunction(const FunctionMessage& function, const Values& known) {
    for (size_t i = 0; i < function.inputs.size(); ++i) {
        AddInput(function.inputs[i], i < known.size() ? known[i] : Value{});
    }
    for (const NodeMessage& node : function.nodes) AddNode(node);
    return Finish(function.outputs);
}

int32_t Planner::AddValue(const std::string& name) {
    values_.emplace_back().name = name;
    return static_cast<int32_t>(values_.size()) - 1;
}

int32_t Planner::AddConstant(const std::string& name, Value value) {
    int32_t number = AddValue(name);
    values_[number].constant = std::move(value);
    return number;
}

void Planner::AddInitializer(const TensorMessage& tensor) {
    bool is_narrow = NarrowBits(tensor.data_type) > 0;
    Value value = is_narrow ? ToDevice(ReadNarrowTensor(tensor, planning_.folder), device())
                            : ReadValue(tensor, planning_.folder, device());
    int32_t number = AddConstant(tensor.name, std::move(value));
    values_[number].is_narrow = is_narrow;
    names_[tensor.name] = number;
}

void Planner::AddInput(const std::string& name, const Value& known) {
    int32_t number = AddValue(name);
    values_[number].constant = known;
    names_[name] = number;
    inputs_.push_back(number);
}

int32_t Planner::ValueOf(const std::string& name) const {
    if (name.empty()) return -1;
    auto it = names_.find(name);
    if (it == names_.end()) throw ModelError{"nothing gives its input '", name, "'"};
    return it->second;
}

void Planner::ReadAttributes(Node* node) {
    for (const AttributeMessage& attribute : node->message->attributes) {
        const AttributeMessage* bound = &attribute;
        if (!attribute.ref_attr_name.empty()) {
            auto it = bindings_.find(attribute.ref_attr_name);
            if (it == bindings_.end()) continue;  // the call does not give it
            bound = it->second;
        }
        node->attributes_[attribute.name] = bound;
    }
}

void Planner::Capture(Node* node) {
    std::vector<std::string> names;
    for (const auto& [name, attribute] : node->attributes_) {
        if (attribute->type == AttributeType::kGraph && attribute->g) FindFree(*attribute->g, {}, &names);
    }
    for (const std::string& name : names) node->inputs.push_back(ValueOf(name));
    node->captured_count_ = static_cast<int>(names.size());
    node->captured_ = std::move(names);
}

// Integers of four or two bits, for which there are no arrays, are for DequantizeLinear only.
void Planner::CheckNarrow(const Node& node) const {
    for (int i = 0; i < node.input_count(); ++i) {
        if (!node.HasInput(i) || !values_[node.inputs[i]].is_narrow || (Is(node, "DequantizeLinear") && i != 1))
            continue;
        throw ModelError{"its input '", values_[node.inputs[i]].name,
                         "' has integers narrower than a byte, which only DequantizeLinear takes"};
    }
}

void Planner::AddNode(const NodeMessage& message) {
    if (++planning_.n_nodes > kMaxNodes) throw ModelError{"it has more than ", kMaxNodes, " nodes"};
    Node& node = nodes_.emplace_back();
    node.message = &message;
    node.planner_ = this;
    Naming(node, [&] {
        auto opset = opsets_.find(message.domain);
        if (opset == opsets_.end()) {
            throw ModelError{"the model imports no version of the domain '", message.domain, "'"};
        }
        node.opset_ = opset->second;
        for (const std::string& name : message.inputs) node.inputs.push_back(ValueOf(name));
        ReadAttributes(&node);
        if (FindFunction(*planning_.model, message) == nullptr) {
            node.op = FindOperator(message.domain, message.op_type);
            if (node.op == nullptr) throw ModelError{"the operator is not supported in opset ", node.opset_};
            node.schema_ = &Schema::Of(message.domain, message.op_type);
            node.CheckSchema();
            CheckDomains(node);
        }
        Capture(&node);
        CheckNarrow(node);
        for (const std::string& name : message.outputs) {
            node.outputs.push_back(name.empty() ? -1 : AddValue(name));
        }
        if (IsIdentity(node)) {
            names_[message.outputs[0]] = node.inputs[0];
            nodes_.pop_back();
            return;
        }
        bool is_waiting = IsWeightInBlocks(node);
        is_waiting_ = is_waiting_ || is_waiting;
        if (is_waiting || !Fold(&node)) {
            for (int32_t number : node.outputs) {
                if (number >= 0) values_[number].producer = &node;
            }
        }
        for (size_t i = 0; i < message.outputs.size(); ++i) {
            if (!message.outputs[i].empty()) names_[message.outputs[i]] = node.outputs[i];
        }
    });
}

Kernel Planner::MakeKernelOf(const Node& node) {
    if (node.op != nullptr) return node.op->make(node);
    const FunctionMessage& function = *FindFunction(*planning_.model, *node.message);
    if (planning_.depth >= kMaxCallDepth) {
        throw ModelError{"functions call each other more than ", kMaxCallDepth, " times"};
    }
    Bindings bindings;
    for (const AttributeMessage& attribute : function.default_attributes) bindings[attribute.name] = &attribute;
    for (const auto& [name, attribute] : node.attributes_) {
        bool is_known = bindings.count(name) != 0 || std::find(function.attributes.begin(), function.attributes.end(),
                                                               name) != function.attributes.end();
        if (!is_known) throw ModelError{"there is no attribute '", name, "'"};
        bindings[name] = attribute;
    }
    if (node.inputs.size() > function.inputs.size()) throw ModelError{"it has ", node.inputs.size(), " inputs"};
    Values known;
    for (int i = 0; i < node.input_count(); ++i) known.push_back(node.Known(i));
    ++planning_.depth;
    Planner body{planning_, function.opsets, bindings};
    auto plan = std::make_shared<Plan>(body.PlanFunction(function, known));
    --planning_.depth;
    return MakeFunctionKernel(std::move(plan));
}

bool Planner::Fold(Node* node) {
    if (node->op == nullptr || node->op->purity != Purity::kPure) return false;
    Values constants;
    int64_t bytes = 0;
    for (int32_t number : node->inputs) {
        if (number >= 0 && !values_[number].constant) return false;
        constants.push_back(number < 0 ? Value{} : values_[number].constant);
        bytes += BytesOf(constants.back());
    }
    auto n_outputs = static_cast<int>(node->outputs.size());
    Kernel kernel = MakeKernelOf(*node);
    Kernel checked = [&](const Inputs& in) {
        Values ys(n_outputs);
        std::vector<int32_t> places(n_outputs);
        std::iota(places.begin(), places.end(), 0);
        RunKernel(kernel, node->op->operands, node->RequiredArrays(), in, ys.data(), places.data(), n_outputs);
        return ys;
    };
    Values ys;
    try {
        ys = CallKernel(checked, constants, n_outputs);
    } catch (const std::exception&) {
        return false;  // an error of those runs that reach the node
    }
    for (int i = 0; i < n_outputs; ++i) {
        if (node->outputs[i] >= 0 && (!ys[i] || BytesOf(ys[i]) > bytes + kMaxFoldedBytes)) return false;
    }
    for (int i = 0; i < n_outputs; ++i) {
        if (node->outputs[i] >= 0) values_[node->outputs[i]].constant = std::move(ys[i]);
    }
    node->is_dead = true;
    return true;
}

void Planner::FoldRest() {
    if (!is_waiting_) return;
    for (Node& node : nodes_) {
        if (!node.is_dead) Naming(node, [&] { Fold(&node); });
    }
    CountUses();
}

void Planner::DropUse(int32_t number) {
    PlannedValue& value = values_[number];
    if (--value.uses == 0) value.constant = Value{};
}

void Planner::CountUses() {
    for (PlannedValue& value : values_) value.uses = 0;
    for (int32_t number : outputs_) ++values_[number].uses;
    // Backwards, so that nodes whose results nothing uses do not count.
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
        if (it->is_dead) continue;
        bool is_used = std::any_of(it->outputs.begin(), it->outputs.end(),
                                   [&](int32_t number) { return number >= 0 && values_[number].uses > 0; });
        it->is_dead = !is_used;
        if (!is_used) continue;
        for (int32_t number : it->inputs) {
            if (number >= 0) ++values_[number].uses;
        }
    }
}

// Turns the nodes that are left into steps.
class PlanEmitter {
public:
    explicit PlanEmitter(Planner& planner) : planner_{planner} {}

    Plan Emit() {
        planner_.CountUses();
        slots_.assign(planner_.values_.size(), kNone);
        plan_.constants_.emplace_back();  // what is missing
        plan_.n_inputs_ = static_cast<int>(planner_.inputs_.size());
        for (int32_t number : planner_.inputs_) slots_[number] = plan_.n_slots_++;
        for (Node& node : planner_.nodes_) {
            if (!node.is_dead) AddStep(node);
        }
        for (int32_t number : planner_.outputs_) plan_.outputs_.push_back(NumberOf(number));
        FreeAfterLastUses();
        return std::move(plan_);
    }

private:
    static constexpr int32_t kNone = INT32_MIN;

    int32_t NumberOf(int32_t value) {
        if (value < 0) return ~0;
        if (slots_[value] == kNone) {
            const Value& constant = planner_.values_[value].constant;
            if (!constant) throw ModelError{"nothing gives '", planner_.values_[value].name, "'"};
            slots_[value] = ~static_cast<int32_t>(plan_.constants_.size());
            plan_.constants_.push_back(constant);
        }
        return slots_[value];
    }

    // Returns memory in time: kernels have copies in blocks of other sizes, so that the freed ones would not serve
    // them.
    void Drop(int32_t number) {
        int64_t bytes = BytesOf(planner_.values_[number].constant);
        planner_.DropUse(number);
        if (planner_.values_[number].constant) return;
        dropped_bytes_ += bytes;
        if (dropped_bytes_ < kMostDroppedBytes) return;
        dropped_bytes_ = 0;
        planner_.device().FreeUnusedBlocks();
    }

    void AddStep(Node& node) {
        Plan::Step step;
        Naming(node, [&] { step.kernel = planner_.MakeKernelOf(node); });
        step.operands = node.op == nullptr ? Operands::kValues : node.op->operands;
        step.begin = static_cast<int32_t>(plan_.numbers_.size());
        step.n_inputs = node.input_count();
        step.n_required = node.RequiredArrays();
        // Those that the kernel keeps itself come last.
        if (!node.consumed_.empty()) step.n_required = std::min(step.n_required, *node.consumed_.begin());
        step.n_outputs = node.output_count();
        step.n_last = 0;
        step.label = static_cast<int32_t>(plan_.labels_.size());
        plan_.labels_.push_back(node.Label());
        for (int i = 0; i < node.input_count(); ++i) {
            int32_t number = node.inputs[i];
            bool is_consumed = node.consumed_.count(i) != 0;
            plan_.numbers_.push_back(NumberOf(is_consumed ? -1 : number));
            if (is_consumed && number >= 0) Drop(number);
        }
        for (int32_t number : node.outputs) {
            int32_t slot = plan_.n_slots_++;
            if (number >= 0) slots_[number] = slot;
            plan_.numbers_.push_back(slot);
        }
        plan_.steps_.push_back(std::move(step));
    }

    // Rewrites the numbers with the slots that each step is the last to touch.
    void FreeAfterLastUses() {
        std::vector<char> is_kept(plan_.n_slots_, 0);
        for (int32_t number : plan_.outputs_) {
            if (number >= 0) is_kept[number] = 1;
        }
        std::vector<std::vector<int32_t>> last(plan_.steps_.size());
        for (size_t s = plan_.steps_.size(); s-- > 0;) {
            const Plan::Step& step = plan_.steps_[s];
            for (int32_t i = 0; i < step.n_inputs + step.n_outputs; ++i) {
                int32_t number = plan_.numbers_[step.begin + i];
                if (number < 0 || is_kept[number] != 0) continue;
                is_kept[number] = 1;
                last[s].push_back(number);
            }
        }
        std::vector<int32_t> numbers;
        for (size_t s = 0; s < plan_.steps_.size(); ++s) {
            Plan::Step& step = plan_.steps_[s];
            auto begin = plan_.numbers_.begin() + step.begin;
            step.begin = static_cast<int32_t>(numbers.size());
            numbers.insert(numbers.end(), begin, begin + step.n_inputs + step.n_outputs);
            numbers.insert(numbers.end(), last[s].begin(), last[s].end());
            step.n_last = static_cast<int32_t>(last[s].size());
        }
        plan_.numbers_ = std::move(numbers);
    }

    static constexpr int64_t kMostDroppedBytes = int64_t{1} << 25;

    Planner& planner_;
    int64_t dropped_bytes_{0};
    Plan plan_;
    std::vector<int32_t> slots_;
};

Plan Planner::Finish(const std::vector<std::string>& outputs) {
    for (const std::string& name : outputs) {
        outputs_.push_back(ValueOf(name));
        if (outputs_.back() >= 0 && values_[outputs_.back()].is_narrow) {
            throw ModelError{"the output '", name, "' has integers narrower than a byte, which is not supported"};
        }
    }
    CountUses();
    FuseIntegers(*this);
    FuseBlocks(*this);
    FoldRest();
    Fuse(*this);
    return PlanEmitter{*this}.Emit();
}

}  // namespace chainerx::onnx
