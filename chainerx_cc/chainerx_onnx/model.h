#pragma once

// The messages of an ONNX file that matter for running it. Strings of data are views of the file's bytes.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chainerx::onnx {

// ONNX's numbers of element types.
enum class ElementType : int32_t {
    kUndefined = 0,
    kFloat32 = 1,
    kUInt8 = 2,
    kInt8 = 3,
    kUInt16 = 4,
    kInt16 = 5,
    kInt32 = 6,
    kInt64 = 7,
    kString = 8,
    kBool = 9,
    kFloat16 = 10,
    kFloat64 = 11,
    kUInt32 = 12,
    kUInt64 = 13,
    kBfloat16 = 16,
    kUInt4 = 21,
    kInt4 = 22,
    kUInt2 = 25,
    kInt2 = 26,
};

struct TensorMessage {
    std::string name;
    std::vector<int64_t> dims;
    int32_t data_type{0};
    std::optional<std::string_view> raw_data;
    std::vector<float> float_data;
    std::vector<int32_t> int32_data;
    std::vector<int64_t> int64_data;
    std::vector<double> double_data;
    std::vector<int64_t> uint64_data;  // the bits of the numbers
    std::vector<std::string> strings;
    bool is_external{false};
    bool is_segment{false};
    std::map<std::string, std::string> external_data;
};

struct SparseTensorMessage {
    TensorMessage values;
    TensorMessage indices;
    std::vector<int64_t> dims;
};

struct GraphMessage;

// ONNX's numbers of the types of attributes.
enum class AttributeType : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
};

struct AttributeMessage {
    std::string name;
    std::string ref_attr_name;  // of the function that the node is in
    AttributeType type{AttributeType::kUndefined};
    double f{0};
    int64_t i{0};
    std::string s;
    std::vector<float> floats;
    std::vector<int64_t> ints;
    std::vector<std::string> strings;
    // Attributes of nodes are copied where functions are called; these are shared by the copies.
    std::shared_ptr<const TensorMessage> t;
    std::shared_ptr<const SparseTensorMessage> sparse;
    std::shared_ptr<const GraphMessage> g;
};

struct NodeMessage {
    std::string name;
    std::string op_type;
    std::string domain;
    std::string overload;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<AttributeMessage> attributes;
};

enum class ValueKind : uint8_t { kUnknown, kTensor, kSequence, kMap };

struct ValueMessage {
    struct Dim {
        int64_t value{-1};  // negative if it is not fixed
        std::string name;
    };

    std::string name;
    ValueKind kind{ValueKind::kUnknown};
    bool is_optional{false};
    int32_t element_type{0};  // of a tensor
    std::optional<std::vector<Dim>> dims;
};

struct GraphMessage {
    std::string name;
    std::vector<NodeMessage> nodes;
    std::vector<TensorMessage> initializers;
    std::vector<SparseTensorMessage> sparse_initializers;
    std::vector<ValueMessage> inputs;
    std::vector<ValueMessage> outputs;
};

// Versions of the operators by domain. The domain of ONNX's own ones is "".
using Opsets = std::map<std::string, int64_t>;

struct FunctionMessage {
    std::string name;
    std::string domain;
    std::string overload;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> attributes;
    std::vector<AttributeMessage> default_attributes;
    std::vector<NodeMessage> nodes;
    Opsets opsets;
};

struct ModelMessage {
    int64_t ir_version{0};
    std::string producer;
    Opsets opsets;
    GraphMessage graph;
    std::vector<FunctionMessage> functions;
};

// Reads the bytes of a file, which must outlive the message. Raises ModelError if they are no model.
ModelMessage ReadModel(std::string_view bytes);

}  // namespace chainerx::onnx
