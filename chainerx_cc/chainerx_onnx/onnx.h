#pragma once

// Models in ONNX files, run without Python:
//
//   chainerx::Context context;
//   chainerx::SetGlobalDefaultContext(&context);
//   chainerx::onnx::Model model = chainerx::onnx::Load("model.onnx");
//   std::vector<chainerx::Array> ys = model.Run({x});

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx_onnx/error.h"
#include "chainerx_onnx/value.h"

namespace chainerx::onnx {

// What a file says of an input or an output.
struct ValueInfo {
    struct Dim {
        int64_t size;      // negative if a run decides
        std::string name;  // such as "batch"; may be empty
    };

    enum class Kind : uint8_t { kUnknown, kArray, kStrings, kSequence, kMap };

    std::string name;
    Kind kind{Kind::kUnknown};
    bool is_optional{false};  // whether there may be nothing
    std::optional<Dtype> dtype;
    std::optional<std::vector<Dim>> shape;
};

// A model that is ready to run. Copies share it. Several threads may run it at a time.
class Model {
public:
    // Those that a run needs, in its order; those that the file gives itself are left out.
    const std::vector<ValueInfo>& inputs() const;
    const std::vector<ValueInfo>& outputs() const;
    Device& device() const;
    // The labels of the nodes that a run computes, after the model was simplified.
    std::vector<std::string> steps() const;

    // Computes the outputs, which belong to no graph of gradients. Inputs on other devices are moved to the model's.
    // Raises ModelError if an input does not fit to what the file says, if a node fails, or if an output is no array.
    // The message names it.
    std::vector<Array> Run(const std::vector<Array>& inputs) const;
    // The same for values that may be strings, sequences and maps, too.
    Values RunValues(const Values& inputs) const;
    // The same for inputs().size() inputs and outputs().size() outputs.
    void RunValues(const Value* inputs, Value* outputs) const;

private:
    friend class ModelLoader;

    struct Impl;
    std::shared_ptr<const Impl> impl_;
};

// Loads a file. Data outside of it is read from its folder and from nowhere else. Raises ModelError if the file is
// broken, or has an operator, a type or an attribute that is not supported. The message names the node or tensor.
Model Load(const std::string& path, Device& device = GetDefaultDevice());
// Loads the bytes of a file. `folder`: that of data outside of them; without one, there can be none.
Model LoadBytes(std::string_view bytes, const std::string& folder = "", Device& device = GetDefaultDevice());

// The names of the operators that can be run, those of other domains as "domain.name".
std::vector<std::string> OperatorNames();

}  // namespace chainerx::onnx
