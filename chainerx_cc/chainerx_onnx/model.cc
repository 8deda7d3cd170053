#include "chainerx_onnx/model.h"

#include <utility>

#include "chainerx_onnx/error.h"
#include "chainerx_onnx/wire.h"

namespace chainerx::onnx {
namespace {

// Messages of few bytes in a file make objects of some hundred bytes. These limits bound what a small file can grow to,
// and how deep graphs are inside of each other.
constexpr int64_t kMaxMessages = 2'000'000;
constexpr int kMaxNesting = 32;

class ModelReader {
public:
    ModelMessage Model(std::string_view bytes) {
        ModelMessage out;
        bool has_graph = false;
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    out.ir_version = r.Int();
                    break;
                case 2:
                    out.producer = r.String();
                    break;
                case 7:
                    out.graph = Graph(r.Bytes());
                    has_graph = true;
                    break;
                case 8:
                    Opset(r.Bytes(), &out.opsets);
                    break;
                case 25:
                    out.functions.push_back(Function(r.Bytes()));
                    break;
            }
        }
        if (!has_graph) throw ModelError{"it has no graph"};
        return out;
    }

private:
    WireReader Enter(std::string_view bytes) {
        if (++messages_ > kMaxMessages) throw ModelError{"it has more than ", kMaxMessages, " messages"};
        return WireReader{bytes};
    }

    void Opset(std::string_view bytes, Opsets* out) {
        std::string domain;
        int64_t version = 0;
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) domain = r.String();
            if (r.field() == 2) version = r.Int();
        }
        (*out)[domain == "ai.onnx" ? "" : domain] = version;
    }

    GraphMessage Graph(std::string_view bytes) {
        if (++depth_ > kMaxNesting) throw ModelError{"graphs are nested more than ", kMaxNesting, " times"};
        GraphMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    out.nodes.push_back(Node(r.Bytes()));
                    break;
                case 2:
                    out.name = r.String();
                    break;
                case 5:
                    out.initializers.push_back(Tensor(r.Bytes()));
                    break;
                case 11:
                    out.inputs.push_back(Value(r.Bytes()));
                    break;
                case 12:
                    out.outputs.push_back(Value(r.Bytes()));
                    break;
                case 15:
                    out.sparse_initializers.push_back(Sparse(r.Bytes()));
                    break;
            }
        }
        --depth_;
        return out;
    }

    NodeMessage Node(std::string_view bytes) {
        NodeMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    out.inputs.push_back(Text(&r));
                    break;
                case 2:
                    out.outputs.push_back(Text(&r));
                    break;
                case 3:
                    out.name = r.String();
                    break;
                case 4:
                    out.op_type = r.String();
                    break;
                case 5:
                    out.attributes.push_back(Attribute(r.Bytes()));
                    break;
                case 7:
                    out.domain = r.String();
                    break;
                case 8:
                    out.overload = r.String();
                    break;
            }
        }
        if (out.domain == "ai.onnx") out.domain.clear();
        return out;
    }

    AttributeMessage Attribute(std::string_view bytes) {
        AttributeMessage out;
        auto has = [&](AttributeType type) {
            if (out.type == AttributeType::kUndefined) out.type = type;
        };
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    out.name = r.String();
                    break;
                case 2:
                    out.f = r.Float();
                    has(AttributeType::kFloat);
                    break;
                case 3:
                    out.i = r.Int();
                    has(AttributeType::kInt);
                    break;
                case 4:
                    out.s = r.String();
                    has(AttributeType::kString);
                    break;
                case 5:
                    out.t = std::make_shared<TensorMessage>(Tensor(r.Bytes()));
                    has(AttributeType::kTensor);
                    break;
                case 6:
                    out.g = std::make_shared<GraphMessage>(Graph(r.Bytes()));
                    has(AttributeType::kGraph);
                    break;
                case 7:
                    r.Floats(&out.floats);
                    has(AttributeType::kFloats);
                    break;
                case 8:
                    r.Ints(&out.ints);
                    has(AttributeType::kInts);
                    break;
                case 9:
                    out.strings.push_back(Text(&r));
                    has(AttributeType::kStrings);
                    break;
                case 20:
                    out.type = static_cast<AttributeType>(r.Int32());
                    break;
                case 21:
                    out.ref_attr_name = r.String();
                    break;
                case 22:
                    out.sparse = std::make_shared<SparseTensorMessage>(Sparse(r.Bytes()));
                    break;
            }
        }
        return out;
    }

    TensorMessage Tensor(std::string_view bytes) {
        TensorMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    r.Ints(&out.dims);
                    break;
                case 2:
                    out.data_type = r.Int32();
                    break;
                case 3:
                    out.is_segment = true;
                    break;
                case 4:
                    r.Floats(&out.float_data);
                    break;
                case 5:
                    r.Ints(&out.int32_data);
                    break;
                case 6:
                    out.strings.push_back(Text(&r));
                    break;
                case 7:
                    r.Ints(&out.int64_data);
                    break;
                case 8:
                    out.name = r.String();
                    break;
                case 9:
                    out.raw_data = r.Bytes();
                    break;
                case 10:
                    r.Doubles(&out.double_data);
                    break;
                case 11:
                    r.Ints(&out.uint64_data);
                    break;
                case 13:
                    Entry(r.Bytes(), &out.external_data);
                    break;
                case 14:
                    out.is_external = r.Int() == 1;
                    break;
            }
        }
        return out;
    }

    SparseTensorMessage Sparse(std::string_view bytes) {
        SparseTensorMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) out.values = Tensor(r.Bytes());
            if (r.field() == 2) out.indices = Tensor(r.Bytes());
            if (r.field() == 3) r.Ints(&out.dims);
        }
        return out;
    }

    void Entry(std::string_view bytes, std::map<std::string, std::string>* out) {
        std::string key;
        std::string value;
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) key = r.String();
            if (r.field() == 2) value = r.String();
        }
        (*out)[key] = value;
    }

    ValueMessage Value(std::string_view bytes) {
        ValueMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) out.name = r.String();
            if (r.field() != 2) continue;
            Type(r.Bytes(), &out);
        }
        return out;
    }

    // What is in a sequence or a map is not read.
    void Type(std::string_view bytes, ValueMessage* out) {
        if (++depth_ > kMaxNesting) throw ModelError{"types are nested more than ", kMaxNesting, " times"};
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) {
                out->kind = ValueKind::kTensor;
                TensorType(r.Bytes(), out);
            } else if (r.field() == 4) {
                out->kind = ValueKind::kSequence;
            } else if (r.field() == 5) {
                out->kind = ValueKind::kMap;
            } else if (r.field() == 9) {
                out->is_optional = true;
                for (WireReader inner = Enter(r.Bytes()); inner.Next();) {
                    if (inner.field() == 1) Type(inner.Bytes(), out);
                }
            }
        }
        --depth_;
    }

    void TensorType(std::string_view bytes, ValueMessage* out) {
        for (WireReader r = Enter(bytes); r.Next();) {
            if (r.field() == 1) out->element_type = r.Int32();
            if (r.field() != 2) continue;
            out->dims.emplace();
            for (WireReader shape = Enter(r.Bytes()); shape.Next();) {
                if (shape.field() != 1) continue;
                ValueMessage::Dim& dim = out->dims->emplace_back();
                for (WireReader d = Enter(shape.Bytes()); d.Next();) {
                    if (d.field() == 1) dim.value = d.Int();
                    if (d.field() == 2) dim.name = d.String();
                }
            }
        }
    }

    FunctionMessage Function(std::string_view bytes) {
        FunctionMessage out;
        for (WireReader r = Enter(bytes); r.Next();) {
            switch (r.field()) {
                case 1:
                    out.name = r.String();
                    break;
                case 4:
                    out.inputs.push_back(Text(&r));
                    break;
                case 5:
                    out.outputs.push_back(Text(&r));
                    break;
                case 6:
                    out.attributes.push_back(Text(&r));
                    break;
                case 7:
                    out.nodes.push_back(Node(r.Bytes()));
                    break;
                case 9:
                    Opset(r.Bytes(), &out.opsets);
                    break;
                case 10:
                    out.domain = r.String();
                    break;
                case 11:
                    out.default_attributes.push_back(Attribute(r.Bytes()));
                    break;
                case 13:
                    out.overload = r.String();
                    break;
            }
        }
        return out;
    }

    // One of many strings, which make objects as messages do.
    std::string Text(WireReader* r) {
        if (++messages_ > kMaxMessages) throw ModelError{"it has more than ", kMaxMessages, " messages"};
        return r->String();
    }

    int64_t messages_{0};
    int depth_{0};
};

}  // namespace

ModelMessage ReadModel(std::string_view bytes) {
    try {
        return ModelReader{}.Model(bytes);
    } catch (const ModelError& error) {
        throw ModelError{"this is no ONNX model: ", error.what()};
    }
}

}  // namespace chainerx::onnx
