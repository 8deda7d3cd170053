#include "chainerx_onnx/onnx.h"

#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "chainerx/core/backprop_mode.h"
#include "chainerx/ops/manipulation.h"
#include "chainerx_onnx/check.h"
#include "chainerx_onnx/file_bytes.h"
#include "chainerx_onnx/model.h"
#include "chainerx_onnx/planner.h"
#include "chainerx_onnx/registry.h"
#include "chainerx_onnx/tensor.h"

namespace chainerx::onnx {
namespace {

ValueInfo::Kind KindOf(const ValueMessage& message) {
    if (message.kind == ValueKind::kSequence) return ValueInfo::Kind::kSequence;
    if (message.kind == ValueKind::kMap) return ValueInfo::Kind::kMap;
    if (message.kind == ValueKind::kUnknown || message.element_type == 0) return ValueInfo::Kind::kUnknown;
    bool is_text = message.element_type == static_cast<int32_t>(ElementType::kString);
    return is_text ? ValueInfo::Kind::kStrings : ValueInfo::Kind::kArray;
}

ValueInfo InfoOf(const ValueMessage& message) {
    ValueInfo out{message.name, KindOf(message), message.is_optional, std::nullopt, std::nullopt};
    if (out.kind == ValueInfo::Kind::kArray) out.dtype = DtypeOf(message.element_type);
    if (message.dims) {
        out.shape.emplace();
        for (const ValueMessage::Dim& dim : *message.dims) out.shape->push_back({dim.value, dim.name});
    }
    return out;
}

std::string ShapeText(const std::vector<ValueInfo::Dim>& shape) {
    std::string out = "(";
    for (const ValueInfo::Dim& dim : shape) {
        if (out.size() > 1) out += ", ";
        out += dim.size >= 0 ? std::to_string(dim.size) : dim.name.empty() ? "?" : dim.name;
    }
    return out + ")";
}

bool IsOf(ValueInfo::Kind kind, const Value& x) {
    switch (kind) {
        case ValueInfo::Kind::kArray:
            return static_cast<bool>(x.array());
        case ValueInfo::Kind::kStrings:
            return x.As<Strings>() != nullptr;
        case ValueInfo::Kind::kSequence:
            return x.As<Sequence>() != nullptr;
        case ValueInfo::Kind::kMap:
            return x.As<Map>() != nullptr;
        default:
            return true;
    }
}

void CheckKind(const ValueInfo& info, const Value& x) {
    constexpr const char* kNames[] = {"a value", "an array", "strings", "a sequence", "a map"};
    if (!x) throw ModelError{"input '", info.name, "' is missing"};
    if (!IsOf(info.kind, x)) {
        throw ModelError{"input '", info.name, "' is ", x.KindName(), ", not ", kNames[static_cast<int>(info.kind)]};
    }
}

void CheckShape(const ValueInfo& info, const Shape& shape) {
    if (!info.shape) return;
    bool fits = shape.size() == info.shape->size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
        fits = (*info.shape)[i].size < 0 || (*info.shape)[i].size == shape[i];
    }
    if (!fits) throw ModelError{"input '", info.name, "' has the shape ", shape, ", not ", ShapeText(*info.shape)};
}

void CheckInput(const ValueInfo& info, const Value& x) {
    if (const Array& array = x.array(); array && info.kind == ValueInfo::Kind::kArray) {
        if (array.dtype() != *info.dtype) {
            throw ModelError{"input '", info.name, "' has the dtype ", array.dtype(), ", not ", *info.dtype};
        }
        return CheckShape(info, array.shape());
    }
    if (!x && info.is_optional) return;
    CheckKind(info, x);
    if (x.array()) CheckShape(info, x.array().shape());
    if (const auto* strings = x.As<Strings>()) CheckShape(info, strings->shape);
}

bool IsElsewhere(const Value& x, const Device& device) { return x.array() && &x.array().device() != &device; }

// The value on a device. The elements of sequences and maps are where they are.
Value OnDevice(const Value& x, Device& device) { return IsElsewhere(x, device) ? ToDevice(x.array(), device) : x; }

}  // namespace

struct Model::Impl {
    std::vector<ValueInfo> inputs;
    std::vector<ValueInfo> outputs;
    Device* device;
    Plan plan;
};

const std::vector<ValueInfo>& Model::inputs() const { return impl_->inputs; }
const std::vector<ValueInfo>& Model::outputs() const { return impl_->outputs; }
Device& Model::device() const { return *impl_->device; }
std::vector<std::string> Model::steps() const { return impl_->plan.StepLabels(); }

void Model::RunValues(const Value* inputs, Value* outputs) const {
    const Impl& impl = *impl_;
    size_t n = impl.inputs.size();
    bool is_moved = false;
    for (size_t i = 0; i < n; ++i) {
        CheckInput(impl.inputs[i], inputs[i]);
        is_moved = is_moved || IsElsewhere(inputs[i], *impl.device);
    }
    NoBackpropModeScope no_backprop{impl.device->context()};
    if (!is_moved) return impl.plan.Run(inputs, outputs);
    Values moved;
    for (size_t i = 0; i < n; ++i) moved.push_back(OnDevice(inputs[i], *impl.device));
    impl.plan.Run(moved.data(), outputs);
}

Values Model::RunValues(const Values& inputs) const {
    if (inputs.size() != impl_->inputs.size()) {
        throw ModelError{"the model takes ", impl_->inputs.size(), " inputs and gets ", inputs.size()};
    }
    Values outputs(impl_->outputs.size());
    RunValues(inputs.data(), outputs.data());
    return outputs;
}

std::vector<Array> Model::Run(const std::vector<Array>& inputs) const {
    std::vector<Array> outputs;
    for (const Value& y : RunValues(Values{inputs.begin(), inputs.end()})) {
        if (!y.array()) throw ModelError{"output '", impl_->outputs[outputs.size()].name, "' is ", y.KindName()};
        outputs.push_back(y.array());
    }
    return outputs;
}

class ModelLoader {
public:
    static Model Load(std::string_view bytes, const std::string& folder, Device& device,
                      std::function<void(std::string_view)> forget) {
        ModelMessage message = ReadModel(bytes);
        CheckModel(message);
        auto impl = std::make_shared<Model::Impl>();
        std::set<std::string> given;
        for (const TensorMessage& tensor : message.graph.initializers) given.insert(tensor.name);
        for (const ValueMessage& value : message.graph.inputs) {
            if (given.count(value.name) == 0) impl->inputs.push_back(InfoOf(value));
        }
        for (const ValueMessage& value : message.graph.outputs) impl->outputs.push_back(InfoOf(value));
        impl->device = &device;
        NoBackpropModeScope no_backprop{device.context()};
        DeviceScope scope{device};
        Planning planning{&message, folder, &device, std::move(forget)};
        impl->plan = Planner{planning, message.opsets, Bindings{}}.PlanGraph(message.graph, {}, {});
        // Weights as they were in the file, of which kernels keep their own form
        HostDevice().FreeUnusedBlocks();
        Model model;
        model.impl_ = std::move(impl);
        return model;
    }
};

Model LoadBytes(std::string_view bytes, const std::string& folder, Device& device) {
    return ModelLoader::Load(bytes, folder, device, nullptr);
}

Model Load(const std::string& path, Device& device) {
    FileBytes file{path};
    std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    return ModelLoader::Load(file.view(), folder.string(), device, [&](std::string_view part) { file.Forget(part); });
}

std::vector<std::string> OperatorNames() {
    std::vector<std::string> out;
    for (const Operator* op : AllOperators()) {
        out.push_back(op->domain[0] == '\0' ? op->name : std::string{op->domain} + "." + op->name);
    }
    return out;
}

}  // namespace chainerx::onnx
