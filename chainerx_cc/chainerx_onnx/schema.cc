#include "chainerx_onnx/schema.h"

#include <algorithm>
#include <cctype>
#include <locale>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "chainerx_onnx/error.h"

namespace chainerx::onnx {

extern const char* const kSchemaText;  // the file, which CMakeLists.txt embeds

namespace {

AttributeType TypeOf(char letter) {
    constexpr std::string_view kLetters = "fistgFIS";
    constexpr AttributeType kTypes[] = {AttributeType::kFloat,  AttributeType::kInt,    AttributeType::kString,
                                        AttributeType::kTensor, AttributeType::kGraph,  AttributeType::kFloats,
                                        AttributeType::kInts,   AttributeType::kStrings};
    size_t at = kLetters.find(letter);
    return at == std::string_view::npos ? AttributeType::kUndefined : kTypes[at];
}

std::vector<std::string> SplitText(const std::string& text, char by) {
    std::vector<std::string> out;
    std::istringstream stream{text};
    for (std::string part; std::getline(stream, part, by);) out.push_back(part);
    return out;
}

// In the locale of the file, not of the program, where a comma may part the digits.
double ReadNumber(const std::string& text) {
    std::istringstream stream{text};
    stream.imbue(std::locale::classic());
    double value = 0;
    stream >> value;
    return value;
}

AttributeMessage ParseValue(const std::string& name, AttributeType type, const std::string& text) {
    AttributeMessage value;
    value.name = name;
    value.type = type;
    if (type == AttributeType::kFloat) value.f = ReadNumber(text);
    if (type == AttributeType::kInt) value.i = std::stoll(text);
    if (type == AttributeType::kString) value.s = text;
    if (type == AttributeType::kStrings) value.strings = SplitText(text, ',');
    if (type == AttributeType::kInts) {
        for (const std::string& part : SplitText(text, ',')) value.ints.push_back(std::stoll(part));
    }
    return value;
}

// name:letter, then '!' or '=' and a default
void ReadAttribute(const std::string& token, SchemaForm* form) {
    size_t colon = token.find(':');
    std::string name = token.substr(0, colon);
    SchemaForm::Attribute& attribute = form->attributes[name];
    attribute.type = TypeOf(token[colon + 1]);
    attribute.is_required = token.substr(colon + 2) == "!";
    attribute.has_default = token.substr(colon + 2, 1) == "=";
    if (attribute.has_default) attribute.value = ParseValue(name, attribute.type, token.substr(colon + 3));
}

// name, then '?' or '*' and the least number, then '/' and the element types
void ReadInput(const std::string& token, SchemaForm* form) {
    std::string name = token.substr(0, token.find('/'));
    size_t star = name.find('*');
    ++form->max_inputs;
    if (star != std::string::npos) {
        form->min_inputs += std::stoi(name.substr(star + 1));
        form->max_inputs = kAnyNumber;
        name.resize(star);
    } else if (name.back() == '?') {
        form->optional.insert(static_cast<int>(form->inputs.size()));
        name.pop_back();
    } else {
        ++form->min_inputs;
    }
    form->inputs.push_back(name);
}

bool IsSameName(const std::string& a, const std::string& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

// All schemas, read once.
class SchemaTable {
public:
    SchemaTable() {
        for (const std::string& line : SplitText(kSchemaText, '\n')) {
            if (!line.empty() && line[0] != '#') Read(SplitText(line, ' '));
        }
    }

    const Schema& Find(const std::string& name) const {
        auto it = schemas_.find(name);
        if (it == schemas_.end()) throw ModelError{"there is no operator ", name};
        return it->second;
    }

private:
    void Read(const std::vector<std::string>& tokens) {
        SchemaForm form;
        form.since = std::stoll(tokens[1]);
        for (auto it = tokens.begin() + 2; it != tokens.end(); ++it) {
            if (it->find(':') == std::string::npos) {
                ReadInput(*it, &form);
            } else {
                ReadAttribute(*it, &form);
            }
        }
        Schema& schema = schemas_[tokens[0]];
        schema.min_inputs_ = std::min(schema.min_inputs_, form.min_inputs);
        schema.max_inputs_ = std::max(schema.max_inputs_, form.max_inputs);
        schema.forms_.push_back(std::move(form));
    }

    std::unordered_map<std::string, Schema> schemas_;
};

const Schema& Schema::Of(const std::string& domain, const std::string& name) {
    static const auto* table = new SchemaTable;
    return table->Find(domain.empty() ? name : domain + "." + name);
}

const SchemaForm& Schema::At(int64_t opset) const {
    auto it = std::find_if(forms_.rbegin(), forms_.rend(), [opset](const SchemaForm& f) { return f.since <= opset; });
    return it == forms_.rend() ? forms_.front() : *it;
}

const AttributeMessage* Schema::Default(const std::string& attribute, int64_t opset) const {
    const AttributeMessage* value = nullptr;
    auto read = [&](const SchemaForm& form) {
        auto it = form.attributes.find(attribute);
        if (it != form.attributes.end() && it->second.has_default) value = &it->second.value;
    };
    std::for_each(forms_.begin(), forms_.end(), read);
    read(At(opset));
    return value;
}

bool Schema::HasAttribute(const std::string& name) const {
    return std::any_of(forms_.begin(), forms_.end(),
                       [&](const SchemaForm& f) { return f.attributes.count(name) != 0; });
}

int Schema::InputOf(const std::string& name) const {
    for (const SchemaForm& form : forms_) {
        auto it = std::find_if(form.inputs.begin(), form.inputs.end(),
                               [&](const std::string& each) { return IsSameName(each, name); });
        if (it != form.inputs.end()) return static_cast<int>(it - form.inputs.begin());
    }
    return -1;
}

}  // namespace chainerx::onnx
