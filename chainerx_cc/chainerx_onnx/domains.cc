#include "chainerx_onnx/domains.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/node.h"

namespace chainerx::onnx {

extern const char* const kAttributeValuesText;  // the file, which CMakeLists.txt embeds

namespace {

using Key = std::pair<std::string, std::string>;  // an operator and an attribute

std::vector<std::string> Words(const std::string& text) {
    std::vector<std::string> words;
    size_t begin = 0;
    for (size_t end; (end = text.find('|', begin)) != std::string::npos; begin = end + 1) {
        words.push_back(text.substr(begin, end - begin));
    }
    words.push_back(text.substr(begin));
    return words;
}

// least..most, where most may be missing, or words
AttributeDomain ReadDomain(const std::string& values) {
    AttributeDomain domain;
    size_t dots = values.find("..");
    if (dots == std::string::npos) {
        domain.words = Words(values);
        return domain;
    }
    domain.may_be_empty = values.back() != '+';
    std::string most = values.substr(dots + 2, values.size() - dots - (domain.may_be_empty ? 2 : 3));
    domain.least = std::stoll(values.substr(0, dots));
    if (!most.empty()) domain.most = std::stoll(most);
    return domain;
}

const std::map<Key, AttributeDomain>& Domains() {
    static const auto* domains = [] {
        auto* out = new std::map<Key, AttributeDomain>;
        std::istringstream file{kAttributeValuesText};
        for (std::string line; std::getline(file, line);) {
            if (line[0] == '#') continue;
            std::istringstream row{line};
            std::string name;
            std::string values;
            row >> name >> values;
            for (std::string op; row >> op;) (*out)[{op, name}] = ReadDomain(values);
        }
        return out;
    }();
    return *domains;
}

void CheckInteger(const std::string& name, const AttributeDomain& domain, int64_t value) {
    if (value < domain.least || value > domain.most) {
        throw ModelError{"its attribute '", name,   "' has the value ", value, ", not one from ",
                         domain.least,      " to ", domain.most};
    }
}

}  // namespace

const AttributeDomain* FindDomain(const std::string& op, const std::string& attribute) {
    auto it = Domains().find({op, attribute});
    return it == Domains().end() ? nullptr : &it->second;
}

int PlaceOfWord(const std::string& name, const std::string& word, const std::vector<std::string>& words) {
    auto it = std::find(words.begin(), words.end(), word);
    if (it == words.end()) {
        std::string all;
        for (const std::string& each : words) all += (all.empty() ? "'" : ", '") + each + "'";
        throw ModelError{"its attribute '", name, "' is '", word, "', not one of (", all, ")"};
    }
    return static_cast<int>(it - words.begin());
}

void CheckDomains(const Node& node) {
    for (const auto& [name, attribute] : node.attributes()) {
        const AttributeDomain* domain = FindDomain(node.op_type(), name);
        if (domain == nullptr) continue;
        if (!domain->words.empty()) {
            if (attribute->type == AttributeType::kString) PlaceOfWord(name, attribute->s, domain->words);
            continue;
        }
        if (attribute->type == AttributeType::kInts && attribute->ints.empty() && !domain->may_be_empty) {
            throw ModelError{"its attribute '", name, "' is empty"};
        }
        if (attribute->type == AttributeType::kInt) CheckInteger(name, *domain, attribute->i);
        if (attribute->type == AttributeType::kInts) {
            for (int64_t value : attribute->ints) CheckInteger(name, *domain, value);
        }
    }
}

}  // namespace chainerx::onnx
