#pragma once

// The documentation of models in ONNX files; see python/doc.h for the form.

namespace chainerx::python::docs {

constexpr const char* kOnnxModel = R"(
A model of an ONNX file that is ready to run. :func:`chainerx.onnx.load` makes it.

Calling it with the inputs in the order of :attr:`input_names`, as arrays of ChainerX or NumPy, gives the output, or a
tuple if there are several, as arrays of ChainerX on the device of the model. They belong to no graph. Several threads
may call it at a time.

Strings are arrays of NumPy with the dtype ``object``, sequences are lists, maps are dictionaries, and optional values
may be ``None``.
)";

constexpr const char* kOnnxRun = R"(
Computes all outputs.

Args:
    inputs (list of ~chainerx.ndarray): The inputs in the order of :attr:`input_names`.

Returns:
    list: The outputs, which are arrays of ChainerX or what else a value can be.

Raises:
    ~chainerx.ModelError: If an input does not fit to what the file says, or a node fails. The message names it.
)";

constexpr const char* kOnnxInputs =
        "What the file says of each input: its name, its dtype, which may be ``'string'``, and its shape. The dtype "
        "and "
        "the shape are ``None`` if it says nothing, and so is a dimension without a size and a name.";

}  // namespace chainerx::python::docs
