#pragma once

namespace chainerx::onnx {

class Node;

// Raises ModelError, which names the attribute, if an attribute of a standard operator has a value that no node can
// have, whatever its inputs are.
void CheckDomains(const Node& node);

}  // namespace chainerx::onnx
