#include "chainerx_onnx/registry.h"

#include <map>
#include <utility>

namespace chainerx::onnx {
namespace {

using Key = std::pair<std::string, std::string>;

const std::map<Key, const Operator*>& Table() {
    static const auto* table = [] {
        auto* out = new std::map<Key, const Operator*>;
        for (OperatorTable family : {
#define CHAINERX_ONNX_X(Name) k##Name##Operators,
                     CHAINERX_ONNX_FAMILIES(CHAINERX_ONNX_X)
#undef CHAINERX_ONNX_X
             }) {
            for (const Operator& op : family) out->insert({{op.domain, op.name}, &op});
        }
        return out;
    }();
    return *table;
}

}  // namespace

const Operator* FindOperator(const std::string& domain, const std::string& name) {
    auto it = Table().find({domain, name});
    return it == Table().end() ? nullptr : it->second;
}

std::vector<const Operator*> AllOperators() {
    std::vector<const Operator*> out;
    for (const auto& [key, op] : Table()) out.push_back(op);
    return out;
}

}  // namespace chainerx::onnx
