#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chainerx::onnx {

class Node;

// The values that an attribute can have, whatever the inputs of its node are: words, or integers from the least to the
// largest one. onnx_chainer/attribute_values.txt has them.
struct AttributeDomain {
    std::vector<std::string> words;
    int64_t least{0};
    int64_t most{INT32_MAX};  // sums and products of two sizes do not overflow
    bool may_be_empty{true};
};

// The domain of an attribute of a standard operator, or null.
const AttributeDomain* FindDomain(const std::string& op, const std::string& attribute);

// The number of a word in a list. Raises ModelError, which names the attribute, if it is not there.
int PlaceOfWord(const std::string& name, const std::string& word, const std::vector<std::string>& words);

// Raises ModelError, which names the attribute, if an attribute of a standard operator has another value.
void CheckDomains(const Node& node);

}  // namespace chainerx::onnx
