// Models in ONNX files.

#include "chainerx/python/onnx.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/core/blocking.h"
#include "chainerx/core/small_vector.h"
#include "chainerx/ops/integer_convolution.h"
#include "chainerx/ops/packed_integers.h"
#include "chainerx/ops/quantization.h"
#include "chainerx/python/docs/onnx.h"
#include "chainerx/python/interop.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/object.h"
#include "chainerx/python/onnx_values.h"
#include "chainerx_onnx/onnx.h"

namespace chainerx::python {

// A model of its own type here, so that the functions of this namespace are found for it.
struct OnnxModel : onnx::Model {
    OnnxModel(onnx::Model model) : Model{std::move(model)} {}  // NOLINT(runtime/explicit)
};

template <>
struct Arg<OnnxModel> {
    static std::string Type() { return "_OnnxModel"; }
    static OnnxModel& Get(PyObject* o, const char* name) { return ValueArg<OnnxModel>(o, name, "chainerx.onnx.Model"); }
};
template <>
struct ResultType<OnnxModel> {
    static std::string Text() { return "_OnnxModel"; }
};
PyObject* ToPython(OnnxModel model) { return MakeObject(std::move(model)).release(); }

namespace {

struct NameTuple : PyRef {
    NameTuple(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};
struct InfoTuple : PyRef {
    InfoTuple(PyRef o) : PyRef{std::move(o)} {}  // NOLINT(runtime/explicit)
};

template <class Values, class F>
PyRef MakeTuple(const Values& values, F&& convert) {
    PyRef tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    Py_ssize_t i = 0;
    for (const auto& value : values) PyTuple_SET_ITEM(tuple.get(), i++, convert(value).release());
    return tuple;
}

PyRef Text(const std::string& text) { return Check(ToPython(text)); }

PyRef NamesOf(const std::vector<onnx::ValueInfo>& values) {
    return MakeTuple(values, [](const onnx::ValueInfo& value) { return Text(value.name); });
}

PyRef DimOf(const onnx::ValueInfo::Dim& dim) {
    if (dim.size >= 0) return Check(ToPython(dim.size));
    return dim.name.empty() ? PyRef::Borrow(Py_None) : Text(dim.name);
}

PyRef InfosOf(const std::vector<onnx::ValueInfo>& values) {
    return MakeTuple(values, [](const onnx::ValueInfo& value) {
        bool is_text = value.kind == onnx::ValueInfo::Kind::kStrings;
        PyRef dtype = value.dtype ? Text(GetDtypeName(*value.dtype))
                      : is_text   ? Text("string")
                                  : PyRef::Borrow(Py_None);
        PyRef shape = value.shape ? MakeTuple(*value.shape, DimOf) : PyRef::Borrow(Py_None);
        return Check(PyTuple_Pack(3, Text(value.name).get(), dtype.get(), shape.get()));
    });
}

NameTuple GetInputNames(OnnxModel& self) { return NamesOf(self.inputs()); }
NameTuple GetOutputNames(OnnxModel& self) { return NamesOf(self.outputs()); }
InfoTuple GetInputs(OnnxModel& self) { return InfosOf(self.inputs()); }
InfoTuple GetOutputs(OnnxModel& self) { return InfosOf(self.outputs()); }
Device& GetModelDevice(OnnxModel& self) { return self.device(); }
NameTuple GetSteps(OnnxModel& self) { return MakeTuple(self.steps(), Text); }

using Values = SmallVector<onnx::Value, 8>;

// Runs the model on `n` Python objects.
Values RunOn(const OnnxModel& model, PyObject* const* inputs, Py_ssize_t n) {
    if (n != static_cast<Py_ssize_t>(model.inputs().size())) {
        throw onnx::ModelError{"the model takes ", model.inputs().size(), " inputs and gets ", n};
    }
    Values xs;
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* x = inputs[i];
        xs.push_back(IsNdarray(x) ? GetArray(x) : OnnxValueFromObject(x, model.inputs()[i], model.device()));
    }
    Values ys;
    ys.resize(model.outputs().size());
    model.RunValues(xs.data(), ys.data());
    return ys;
}

PyList RunList(OnnxModel& self, PyObject* inputs) {
    PyRef items = Check(PySequence_Fast(inputs, "inputs must be a sequence of arrays"));
    Values ys = RunOn(self, PySequence_Fast_ITEMS(items.get()), PySequence_Fast_GET_SIZE(items.get()));
    PyRef list = Check(PyList_New(static_cast<Py_ssize_t>(ys.size())));
    for (size_t i = 0; i < ys.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), ObjectFromOnnxValue(ys[i]).release());
    }
    return list;
}

PyObject* CallModel(PyObject* self, PyObject* args, PyObject* kwargs) {
    return GuardFunction("the model", [&]() -> PyObject* {
        if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0) ThrowTypeError("a model takes no keyword arguments");
        const OnnxModel& model = ValueOf<OnnxModel>(self);
        Values ys = RunOn(model, reinterpret_cast<PyTupleObject*>(args)->ob_item, PyTuple_GET_SIZE(args));
        if (ys.size() == 1) return ObjectFromOnnxValue(ys[0]).release();
        return MakeTuple(ys, ObjectFromOnnxValue).release();
    });
}

OnnxModel LoadOnnx(const std::string& path, Device& device) {
    BlockingScope blocking;
    return onnx::Load(path, device);
}

OnnxModel LoadOnnxBytes(const HostBuffer& data, const std::string& folder, Device& device) {
    return onnx::LoadBytes({data.data, static_cast<size_t>(data.size)}, folder, device);
}

NameTuple OnnxOperators() { return MakeTuple(onnx::OperatorNames(), Text); }

}  // namespace

template <>
struct ResultType<NameTuple> {
    static std::string Text() { return "tuple[str, ...]"; }
};
template <>
struct ResultType<InfoTuple> {
    static std::string Text() { return "tuple[tuple[str, str | None, tuple[int | str | None, ...] | None], ...]"; }
};

namespace {

// For onnx_chainer's own runs of models.
std::vector<Array> QuantizeToThree(const Array& x) {
    DynamicallyQuantized out = QuantizeDynamically(x);
    return {out.y, out.scale, out.zero};
}

}  // namespace

void BindOnnx() {
    Function<&LoadOnnx>("_load_onnx", "path, device=None", "Loads an ONNX file.");
    Function<&LoadOnnxBytes>("_load_onnx_bytes", "data, folder='', device=None", "Loads the bytes of an ONNX file.");
    Function<&OnnxOperators>("_onnx_operators", "", "The operators that models can have.");
    Function<&IntegerMatmul>("_integer_matmul", "a, b, a_zero=None, b_zero=None",
                             "Product of 8-bit integers less their zero points, as int32.");
    Function<&IntegerConv>("_integer_conv", "x, w, x_zero, w_zero, stride, pad, end_pad, dilate, groups",
                           "Convolution of 8-bit integers less their zero points, as int32.");
    Function<&QuantizeToThree>("_quantize_dynamically", "x", "Numbers as uint8, their scale and their zero point.");
}

void AddOnnx(PyObject* module) {
    Class<OnnxModel>{"_OnnxModel", docs::kOnnxModel}
            .Property<&GetInputNames>("input_names", "The names of the inputs that a call needs.")
            .Property<&GetOutputNames>("output_names", "The names of the outputs.")
            .Property<&GetInputs>("inputs", docs::kOnnxInputs)
            .Property<&GetOutputs>("outputs", "The same of each output.")
            .Property<&GetModelDevice>("device", "The :class:`~chainerx.Device` on which the model runs.")
            .Property<&GetSteps>("steps", "The nodes that a call computes, after the model was simplified.")
            .Method<&RunList>("run", "self, inputs", docs::kOnnxRun)
            .Callable<&CallModel>()
            .Add(module);
}

}  // namespace chainerx::python
