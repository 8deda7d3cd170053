"""Export of models to ONNX."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import chainer
from chainer.backend import from_chx
from onnx_chainer import _axes, _matmul_nbits, _opsets, _trace, onnx_helper
from onnx_chainer._opsets import (
    MAXIMUM_OPSET_VERSION as MAXIMUM_OPSET_VERSION,
    MINIMUM_OPSET_VERSION as MINIMUM_OPSET_VERSION,
)
from onnx_chainer.context import Context
from onnx_chainer.functions import CONVERTERS
from onnx_chainer.functions.converter import FunctionConverter, as_converter
from onnx_chainer.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO

    from onnx import ModelProto, TensorProto, ValueInfoProto

    from chainer.link_hook import _ForwardPostprocessCallbackArgs, _ForwardPreprocessCallbackArgs
    from chainer.types import VariableLike
    from onnx_chainer._trace import Trace

# Files are limited to 2 GiB; larger parameters are in a file beside them.
_MOST_BYTES = 2**31 - 2**20


def convert_parameter(parameter: VariableLike, context: Context) -> TensorProto:
    """Returns the tensor of a parameter or constant.

    Args:
        parameter (:class:`~chainer.Parameter` or array): Parameter.
        context (onnx_chainer.context.Context): Names.

    Returns:
        onnx.TensorProto: Tensor with the name and value of the parameter.

    """
    if not isinstance(parameter, (chainer.Variable, *chainer.get_array_types())):
        raise ValueError(
            f'a parameter must be a chainer.Parameter or an array, not {type(parameter)}'
        )
    return onnx_helper.make_tensor(context.get_name(parameter), parameter)


def rename_variable_name(
    context: Context,
    variables: Sequence[Any] | Mapping[str, Any],
    named_vars: dict[str, Any],
    new_names: Sequence[str] | Mapping[str, str] | None,
    prefix: str = 'Input',
) -> None:
    """Gives inputs or outputs of a graph their names.

    Args:
        context (onnx_chainer.context.Context): Names.
        variables (list or dict): Variables.
        named_vars (dict): Dictionary that gets the variables by their names.
        new_names (list or dict): Names: a list of them, or a dictionary with the keys of
            ``variables``. ``None`` for the prefix and a number.
        prefix (str): First part of names that are not given.

    Raises:
        ValueError: If the number of names or their keys do not fit.

    """
    keys = list(variables) if isinstance(variables, dict) else list(range(len(variables)))
    if new_names is None:
        new_names = [f'{prefix}_{i}' for i in range(len(keys))]
    if isinstance(new_names, dict):
        if set(new_names) != set(keys):
            raise ValueError(
                f'Replacing name list is not match with input (or output) keys: names for '
                f'{list(new_names)} are given for {keys}'
            )
        names = [new_names[k] for k in keys]
    else:
        names = [new_names] if isinstance(new_names, str) else list(new_names)
        if len(names) != len(keys):
            raise ValueError(
                f'Replacing name list is not match with input (or output) variables: {len(names)} '
                f'names are given for {len(keys)} values: {names}'
            )
    if len(set(names)) != len(names):
        raise ValueError(f'names of inputs and outputs must differ: {names}')
    for key, name in zip(keys, names):
        var = variables[key]  # type: ignore[index]
        context.set_name(var, name, pinned=True)
        named_vars[name] = var


def format_customized_shapes(
    args: VariableLike | Sequence[Any] | Mapping[str, Any],
    shapes: tuple[int | str, ...] | list[Any] | dict[str, Any],
) -> list[tuple[int | str, ...]]:
    """Returns the shapes of all inputs, in their order.

    Args:
        args: VariableLike | Sequence[Any] | Mapping[str, Any] of the model.
        shapes: A tuple for one input, or a list of tuples, or a dictionary with the keys of
            ``args``. Elements are lengths, or names of dynamic axes.

    Raises:
        ValueError: If the shapes do not fit the arguments.

    """
    if isinstance(args, dict):
        if not isinstance(shapes, dict) or set(shapes) != set(args):
            raise ValueError(
                'input_shapes must be a dict with the keys of the arguments '
                f'{list(args)}, but is {shapes!r}'
            )
        return [s for k in args for s in format_customized_shapes(args[k], shapes[k])]
    if isinstance(args, (list, tuple)):
        if len(args) == 1 and isinstance(shapes, tuple):
            shapes = [shapes]
        if not isinstance(shapes, list) or len(shapes) != len(args):
            raise ValueError(
                f'input_shapes must be a list of {len(args)} shapes, as many as there are '
                f'arguments, but is {shapes!r}'
            )
        return [s for a, shape in zip(args, shapes) for s in format_customized_shapes(a, shape)]
    if isinstance(shapes, list) and len(shapes) == 1:
        shapes = shapes[0]
    if not isinstance(shapes, tuple):
        raise ValueError(f'the shape of an input must be a tuple, not {shapes!r}')
    return [shapes]


class RetainInputHook(chainer.LinkHook):
    """Link hook that keeps the inputs of links alive.

    A node of a graph does not keep its variable: with this hook, the variables that links got are
    there as long as the hook is.
    """

    name = 'RetainInputHook'

    def __init__(self) -> None:
        self.retained: list[Any] = []

    def forward_preprocess(self, args: _ForwardPreprocessCallbackArgs) -> None:
        self.retained += [x for x in args.args if isinstance(x, chainer.Variable)]
        self.retained += [x for x in args.kwargs.values() if isinstance(x, chainer.Variable)]

    def forward_postprocess(self, args: _ForwardPostprocessCallbackArgs) -> None:
        pass


def export(
    model: Callable[..., Any],
    args: VariableLike | Sequence[Any] | Mapping[str, Any],
    filename: str | os.PathLike[str] | IO[bytes] | None = None,
    export_params: bool = True,
    graph_name: str = 'Graph',
    save_text: bool = False,
    opset_version: int | None = None,
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    train: bool = False,
    return_named_inout: bool = False,
    external_converters: Mapping[str, Callable[..., Any]] | None = None,
    external_opset_imports: Mapping[str, int] | None = None,
    input_shapes: tuple[int | str, ...] | list[Any] | dict[str, Any] | None = None,
    no_testcase: bool = False,
    matmul_nbits: bool = False,
) -> Any:
    """Exports a model to ONNX.

    The model runs once with ``args``, on its own device and without being changed. The functions
    that it calls become the nodes of the graph.

    Args:
        model (~chainer.Link): Model, on any device.
        args: Its arguments: an array or variable, a list or tuple of them, or a dictionary of named
            arguments. Lists of arrays may be among them.
        filename (str, path or file): File that gets the model, if any. Parameters of more than 2
            GB are in a second file beside it.
        export_params (bool): Whether the graph has the values of parameters. Otherwise parameters
            are inputs of the graph.
        graph_name (str): Name of the graph.
        save_text (bool): Whether to write the graph as text, too: to ``filename + '.txt'``.
        opset_version (int): Version of the operator set. The default is the newest one in which
            ONNX Runtime runs the model.
        input_names (list or dict): Names of the inputs; default: ``Input_0``, ``Input_1``, ...
        output_names (list or dict): Names of the outputs.
        train (bool): Whether the model is exported as it is in training.
        return_named_inout (bool): Whether to return the inputs and outputs, too.
        external_converters (dict): Converters by the name of the function. One gets a
            :class:`~onnx_chainer.functions.converter.FunctionConverterParams` object, or, if it
            has four parameters, the function, the version of the operator set, and the names of
            the inputs and of the outputs; with a fifth one, also the context. It returns a tuple
            of nodes, the last of which gives the outputs. They come before those of this package.
        external_opset_imports (dict): Versions of the domains of operators that external converters
            use.
        input_shapes: Shapes of the inputs: a tuple, or a list or dictionary of tuples like
            ``args``. A string names a dynamic axis: the exported graph takes any length of it.
        no_testcase (bool): Has no effect; scripts for Chainer 7 may pass it.
        matmul_nbits (bool): Whether linear layers with weights of four bits
            (:func:`chainer.quantization.quantize`) become ``MatMulNBits``, which ONNX Runtime adds
            to ONNX, if their blocks have 16, 32, 64, ... inputs.

    Returns:
        onnx.ModelProto: The model. With ``return_named_inout``, a tuple of it and dictionaries of
        the inputs and the outputs by name. If its parameters are in a second file, the model refers
        to them there.

    Raises:
        TypeError: If the type of ``args`` or of a converter is wrong.
        ValueError: If an argument is wrong, or the model calls a function that has no converter.
        RuntimeError: If a function has no form in this version of the operator set, or depends on
            the length of a dynamic axis in a way that has none.

    .. admonition:: Example

        >>> model = chainer.Sequential(L.Linear(3, 2), F.relu)
        >>> x = np.zeros((1, 3), np.float32)
        >>> onnx_model = onnx_chainer.export(model, x, input_shapes=('batch', 3))
        >>> [node.op_type for node in onnx_model.graph.node]
        ['Gemm', 'Relu']
        >>> onnx_model.graph.input[0].type.tensor_type.shape.dim[0].dim_param
        'batch'

    """
    if opset_version is not None:
        opset_version = _opsets.checked(opset_version)
    converters: dict[str, Callable[..., Any]] = {
        **{name: FunctionConverter(c.convert) for name, c in CONVERTERS.items()},
        **{name: as_converter(name, c) for name, c in (external_converters or {}).items()},
    }
    with _trace.off_chainerx(model), _trace.unchanged(model) as restore:
        args = _trace.map_arrays(from_chx, args)

        def run(args):
            restore()
            return _trace.trace(model, args, train)

        main = run(args)
        constant = _find_constants(main, run, args)
        _warn_of_unused(model)
        axes, shapes = _dynamic_axes(run, main, args, input_shapes)

        def convert(opset):
            exporter = _Exporter(model, main, axes, opset, converters)
            return exporter, exporter.model(
                args,
                shapes,
                graph_name,
                export_params,
                input_names,
                output_names,
                external_opset_imports or {},
            )

        opset = opset_version or _opsets.newest()
        exporter, onnx_model = convert(opset)
        while opset_version is None and _opsets.newest_that_runs(onnx_model) < opset:
            opset = _opsets.newest_that_runs(onnx_model)
            exporter, onnx_model = convert(opset)
    if matmul_nbits:
        _matmul_nbits.rewrite(onnx_model)
    if constant is not None:
        warnings.warn(
            f'{constant}. The exported model is right for the values in args only', stacklevel=2
        )
    check_onnx_model(onnx_model, external_converters, external_opset_imports)
    if filename is not None:
        _save(onnx_model, filename, save_text)
    if return_named_inout:
        return onnx_model, exporter.inputs, exporter.outputs
    return onnx_model


def _dynamic_axes(run, main, args, input_shapes):
    """The dynamic axes, if there are any, and the shapes of the inputs."""
    if input_shapes is None:
        return None, [x.shape for x in main.inputs]
    shapes = format_customized_shapes(args, input_shapes)
    names, shapes = _axes.find_names([x.array for x in main.inputs], shapes)
    return _axes.explore(run, main, args, shapes, names) if names else None, shapes


def _find_constants(main: Trace, run: Callable[[Any], Trace], args: Any) -> str | None:
    """What depends on the values of the inputs, but is constant in the graph, or ``None``."""
    try:
        other = run(_trace.map_arrays(_trace.reversed_values, args))
    except Exception:
        # These values may be impossible, such as rows of indices.
        return None
    return _trace.difference(main, other)


def _warn_of_unused(model: Any) -> None:
    """Warns of parameters that wait for an input which the model does not give them."""
    if isinstance(model, chainer.Link):
        paths = [path for path, param in model.namedparams() if param.array is None]
        if paths:
            warnings.warn(
                'the model does not use the links of these parameters, which have no values and '
                f'are not exported: {", ".join(paths)}',
                stacklevel=3,
            )


class _Exporter:
    """Makes the model of traces."""

    def __init__(self, model, main, axes, opset_version, converters):
        self.main: Trace = main
        self.axes = axes
        self.trace: Trace = main if axes is None else axes.traces[0]
        self.opset_version = opset_version
        self.converters = converters
        self.context = Context(model)
        self.context.axes = axes
        self.inputs: dict[str, Any] = {}
        self.outputs: dict[str, Any] = {}
        self.sources: dict[int, Any] = {}

    def model(
        self, args, shapes, graph_name, export_params, input_names, output_names, domains
    ) -> ModelProto:
        from onnx import helper

        context, trace = self.context, self.trace
        named_inputs: dict[str, Any] = {}
        rename_variable_name(context, _like(args, trace.inputs), named_inputs, input_names)
        self.inputs = dict(zip(named_inputs, self.main.inputs))
        outputs = self._name_outputs(output_names)
        graph = Graph(
            context, self.converters, self.opset_version, set(named_inputs), outputs, trace
        )
        graph.to_onnx_graph()
        outputs = {context.get_name(y): y for y in outputs.values()}
        graph.add_nodes(self._copies(outputs))
        self.outputs = dict(zip(outputs, self.main.outputs))
        input_infos = [
            self._value_info(name, x, shape)
            for (name, x), shape in zip(named_inputs.items(), shapes)
        ]
        if not export_params:
            input_infos += [
                self._value_info(name, p, p.shape) for name, p in context.parameters.items()
            ]
        opsets = [helper.make_opsetid('', self.opset_version)]
        opsets += [helper.make_opsetid(name, version) for name, version in domains.items()]
        model = helper.make_model(
            helper.make_graph(graph.nodes, graph_name, input_infos, self._output_infos(outputs)),
            producer_name='Chainer',
            producer_version=chainer.__version__,
            opset_imports=opsets,
        )
        model.ir_version = helper.find_min_ir_version_for(opsets[:1])
        self._fill(model.graph, export_params)
        return model

    def _fill(self, graph, export_params):
        """Gives a graph its constants and parameters."""
        for name, array in self.context.initializers.items():
            tensor = graph.initializer.add(doc_string=onnx_helper.CONSTANT)
            onnx_helper.fill_tensor(tensor, name, array)
        for name, array in self.context.parameters.items() if export_params else ():
            onnx_helper.fill_tensor(graph.initializer.add(), name, array)

    def _copies(self, outputs):
        """Nodes of outputs that are inputs, parameters or other outputs."""
        return [
            onnx_helper.make_node(
                'Identity', [self.context.get_name(self.sources[id(y.array)])], [name], name=name
            )
            for name, y in outputs.items()
            if id(y.array) in self.sources
        ]

    def _name_outputs(self, names):
        """Outputs by name, and sources of those that no function makes.

        An output may be an input, a parameter or another output: it is a copy.
        """
        context, trace = self.context, self.trace
        targets: list[Any] = []
        for y in trace.outputs:
            is_new = all(y.array is not other.array for other in targets)
            if not (is_new and trace.is_result(y.array)) or context.is_pinned(y):
                copy = chainer.Variable(y.array.copy())
                self.sources[id(copy.array)] = y.array
                y = copy
            targets.append(y)
        outputs: dict[str, Any] = {}
        if names is None:
            for i, y in enumerate(targets):
                if id(y.array) in self.sources:
                    context.set_name(y, f'Output_{i}', pinned=True)
            return {f'Output_{i}': y for i, y in enumerate(targets)}
        result = trace.result
        by_key = isinstance(result, dict) and isinstance(names, dict)
        variables = dict(zip(result, targets)) if by_key else targets
        rename_variable_name(context, variables, outputs, names, 'Output')
        return outputs

    def _output_infos(self, outputs):
        infos = []
        for i, (name, y) in enumerate(outputs.items()):
            shape = y.shape
            if self.axes is not None:
                dims = _axes.merge([t.outputs[i].shape for t in self.axes.traces])
                shape = [self.axes.name_of(n) for n in dims]
            infos.append(self._value_info(name, y, shape))
        return infos

    def _value_info(self, name, value, shape) -> ValueInfoProto:
        from onnx import helper

        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        return helper.make_tensor_value_info(name, dtype, list(shape))


def _like(args, inputs):
    """Inputs by the keys of a dictionary of arguments, otherwise a list of them."""
    if isinstance(args, dict) and len(args) == len(inputs):
        return dict(zip(args, inputs))
    return inputs


def check_onnx_model(
    onnx_model: ModelProto,
    external_converters: Mapping[str, Any] | None,
    external_opset_imports: Mapping[str, int] | None,
) -> None:
    """Checks a model, as far as its operators are those of ONNX.

    Args:
        onnx_model (onnx.ModelProto): Model.
        external_converters (dict): External converters.
        external_opset_imports (dict): Domains of operators that they use.

    Raises:
        onnx.checker.ValidationError: If the model is not valid.

    """
    import onnx

    if _data_bytes(onnx_model) > _MOST_BYTES:
        # Only files of this size can be checked.
        return
    try:
        onnx.checker.check_model(onnx_model)
    except onnx.checker.ValidationError as e:
        if not external_converters or external_opset_imports:
            raise
        warnings.warn(
            f'external converters make operators that onnx does not know: {e}', stacklevel=3
        )


def _data_bytes(onnx_model):
    return sum(len(t.raw_data) for t in onnx_model.graph.initializer)


def _save(onnx_model, filename, save_text):
    import onnx
    from google.protobuf import text_format

    is_path = isinstance(filename, (str, os.PathLike))
    if not is_path:
        filename.write(onnx_model.SerializeToString())
        return
    if save_text:
        with open(f'{os.fspath(filename)}.txt', 'w', encoding='utf-8') as f:
            f.write(text_format.MessageToString(onnx_model))
    if _data_bytes(onnx_model) > _MOST_BYTES:
        location = f'{os.path.basename(filename)}.data'
        data = os.path.join(os.path.dirname(filename), location)
        if os.path.exists(data):
            os.remove(data)
        onnx.save_model(
            onnx_model,
            os.fspath(filename),
            save_as_external_data=True,
            all_tensors_to_one_file=True,
            location=location,
        )
        onnx.checker.check_model(os.fspath(filename))
    else:
        onnx.save_model(onnx_model, os.fspath(filename))
