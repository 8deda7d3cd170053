#include "chainerx_onnx/check.h"

#include <set>
#include <string>
#include <tuple>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/registry.h"

namespace chainerx::onnx {
namespace {

using Names = std::set<std::string>;
using FunctionKey = std::tuple<std::string, std::string, std::string>;

std::string Label(const NodeMessage& node) {
    std::string name = node.name.empty() ? "" : "'" + node.name + "' ";
    return "node " + name + "(" + (node.domain.empty() ? "" : node.domain + ".") + node.op_type + ")";
}

// The names that a graph can use: its own ones and those of the graphs around it.
struct Scope {
    const Scope* outer;
    Names names;

    bool Has(const std::string& name) const {
        for (const Scope* s = this; s != nullptr; s = s->outer) {
            if (s->names.count(name) != 0) return true;
        }
        return false;
    }
};

bool IsGivenBy(const std::vector<NodeMessage>& nodes, const std::string& name) {
    for (const NodeMessage& node : nodes) {
        for (const std::string& output : node.outputs) {
            if (output == name) return true;
        }
    }
    return false;
}

void CheckNodes(const std::vector<NodeMessage>& nodes, Scope* scope);

void CheckGraph(const GraphMessage& graph, const Scope* outer) {
    Scope scope{outer, {}};
    Names initializers;
    for (const TensorMessage& tensor : graph.initializers) {
        if (tensor.name.empty()) throw ModelError{"an initializer of graph '", graph.name, "' has no name"};
        if (!initializers.insert(tensor.name).second) {
            throw ModelError{"graph '", graph.name, "' has two initializers '", tensor.name, "'"};
        }
    }
    for (const SparseTensorMessage& tensor : graph.sparse_initializers) {
        if (!initializers.insert(tensor.values.name).second) {
            throw ModelError{"graph '", graph.name, "' has two initializers '", tensor.values.name, "'"};
        }
    }
    for (const ValueMessage& input : graph.inputs) {
        if (input.name.empty()) throw ModelError{"an input of graph '", graph.name, "' has no name"};
        if (!scope.names.insert(input.name).second) {
            throw ModelError{"graph '", graph.name, "' has two inputs '", input.name, "'"};
        }
    }
    scope.names.merge(initializers);
    CheckNodes(graph.nodes, &scope);
    for (const ValueMessage& output : graph.outputs) {
        if (!scope.Has(output.name)) {
            throw ModelError{"nothing gives the output '", output.name, "' of graph '", graph.name, "'"};
        }
    }
}

void CheckNodes(const std::vector<NodeMessage>& nodes, Scope* scope) {
    for (const NodeMessage& node : nodes) {
        for (const std::string& name : node.inputs) {
            if (name.empty() || scope->Has(name)) continue;
            if (IsGivenBy(nodes, name)) {
                throw ModelError{Label(node), ": its input '", name,
                                 "' comes from a later node: the nodes are out of order or form a cycle"};
            }
            throw ModelError{Label(node), ": nothing gives its input '", name, "'"};
        }
        Names attributes;
        for (const AttributeMessage& attribute : node.attributes) {
            if (!attributes.insert(attribute.name).second) {
                throw ModelError{Label(node), ": it has two attributes '", attribute.name, "'"};
            }
            if (attribute.g) CheckGraph(*attribute.g, scope);
        }
        if (node.outputs.empty()) throw ModelError{Label(node), ": it has no outputs"};
        for (const std::string& name : node.outputs) {
            if (!name.empty() && !scope->names.insert(name).second) {
                throw ModelError{Label(node), ": its output '", name, "' is there already"};
            }
        }
    }
}

void CheckOpsets(const Opsets& opsets) {
    for (const auto& [domain, version] : opsets) {
        if (version < 1 || (domain.empty() && version > kNewestOpset)) {
            throw ModelError{"version ",  version, " of the domain '", domain, "' is not supported: the newest is ",
                             kNewestOpset};
        }
    }
}

class FunctionChecker {
public:
    explicit FunctionChecker(const ModelMessage& model) {
        for (const FunctionMessage& f : model.functions) {
            if (!functions_.insert({{f.domain, f.name, f.overload}, &f}).second) {
                throw ModelError{"function '", f.name, "' is defined twice"};
            }
        }
    }

    void CheckAll() {
        for (const auto& [key, function] : functions_) {
            CheckOpsets(function->opsets);
            Scope scope{nullptr, Names{function->inputs.begin(), function->inputs.end()}};
            CheckNodes(function->nodes, &scope);
            for (const std::string& output : function->outputs) {
                if (!scope.Has(output)) {
                    throw ModelError{"nothing gives the output '", output, "' of function '", function->name, "'"};
                }
            }
            Visit(key, *function);
        }
    }

private:
    // Follows calls. Functions that are being visited must not be met again.
    void Visit(const FunctionKey& key, const FunctionMessage& function) {
        if (done_.count(key) != 0) return;
        if (!visiting_.insert(key).second) throw ModelError{"function '", function.name, "' calls itself"};
        if (visiting_.size() > kMaxDepth) throw ModelError{"functions call each other more than ", kMaxDepth, " times"};
        Visit(function.nodes);
        visiting_.erase(key);
        done_.insert(key);
    }

    void Visit(const std::vector<NodeMessage>& nodes) {
        for (const NodeMessage& node : nodes) {
            auto it = functions_.find({node.domain, node.op_type, node.overload});
            if (it != functions_.end()) {
                try {
                    Visit(it->first, *it->second);
                } catch (const ModelError& error) {
                    std::string text = error.what();
                    throw ModelError{text.rfind("node ", 0) == 0 ? text : Label(node) + ": " + text};
                }
            }
            for (const AttributeMessage& attribute : node.attributes) {
                if (attribute.g) Visit(attribute.g->nodes);
            }
        }
    }

    static constexpr size_t kMaxDepth = 64;
    std::map<FunctionKey, const FunctionMessage*> functions_;
    std::set<FunctionKey> visiting_;
    std::set<FunctionKey> done_;
};

}  // namespace

void CheckModel(const ModelMessage& model) {
    if (model.opsets.empty()) throw ModelError{"this is no ONNX model: it imports no operators"};
    CheckOpsets(model.opsets);
    FunctionChecker{model}.CheckAll();
    CheckGraph(model.graph, nullptr);
}

}  // namespace chainerx::onnx
