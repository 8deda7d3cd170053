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

ValueInfo InfoOf(const ValueMessage& message) {
    ValueInfo out{message.name, std::nullopt, std::nullopt};
    if (!message.is_tensor) return out;
    if (message.element_type != 0) out.dtype = DtypeOf(message.element_type);
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

void CheckInput(const ValueInfo& info, const Array& x) {
    if (!x) throw ModelError{"input '", info.name, "' is missing"};
    if (info.dtype && x.dtype() != *info.dtype) {
        throw ModelError{"input '", info.name, "' has the dtype ", x.dtype(), ", not ", *info.dtype};
    }
    if (!info.shape) return;
    const Shape& shape = x.shape();
    bool fits = shape.size() == info.shape->size();
    for (size_t i = 0; fits && i < shape.size(); ++i) {
        fits = (*info.shape)[i].size < 0 || (*info.shape)[i].size == shape[i];
    }
    if (!fits) throw ModelError{"input '", info.name, "' has the shape ", shape, ", not ", ShapeText(*info.shape)};
}

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

void Model::Run(const Array* inputs, Array* outputs) const {
    const Impl& impl = *impl_;
    size_t n = impl.inputs.size();
    bool is_moved = false;
    for (size_t i = 0; i < n; ++i) {
        CheckInput(impl.inputs[i], inputs[i]);
        is_moved = is_moved || &inputs[i].device() != impl.device;
    }
    NoBackpropModeScope no_backprop{impl.device->context()};
    if (!is_moved) return impl.plan.Run(inputs, outputs);
    Arrays moved;
    for (size_t i = 0; i < n; ++i) moved.push_back(ToDevice(inputs[i], *impl.device));
    impl.plan.Run(moved.data(), outputs);
}

std::vector<Array> Model::Run(const std::vector<Array>& inputs) const {
    if (inputs.size() != impl_->inputs.size()) {
        throw ModelError{"the model takes ", impl_->inputs.size(), " inputs and gets ", inputs.size()};
    }
    std::vector<Array> outputs(impl_->outputs.size());
    Run(inputs.data(), outputs.data());
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
