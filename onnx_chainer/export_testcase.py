"""Export of models together with inputs and outputs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import chainer
from onnx_chainer import onnx_helper
from onnx_chainer.export import export

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from chainer.types import VariableLike


def export_testcase(
    model: Callable[..., Any],
    args: VariableLike | Sequence[Any] | Mapping[str, Any],
    out_dir: str | os.PathLike[str],
    output_grad: bool | str = False,
    **kwargs: Any,
) -> Any:
    """Exports a model with a test case, in the layout of onnx's own tests.

    ``out_dir`` gets ``model.onnx`` and a folder ``test_data_set_0`` with ``input_0.pb``, ...,
    ``output_0.pb``, ... and, with ``output_grad``, the gradients of the parameters,
    ``gradient_0.pb``, ...

    Args:
        model (~chainer.Link): Model.
        args: Its arguments; see :func:`~onnx_chainer.export`.
        out_dir (str): Folder, which is made if it does not exist.
        output_grad (bool): Whether to write gradients of the parameters with respect to the first
            output. If it is ``'dummy'``, they are of the shapes of the parameters and one.
        kwargs: VariableLike | Sequence[Any] | Mapping[str, Any] of :func:`~onnx_chainer.export`.

    Returns:
        What :func:`~onnx_chainer.export` returns.

    """
    data_dir = os.path.join(out_dir, 'test_data_set_0')
    os.makedirs(data_dir, exist_ok=True)
    return_named_inout = kwargs.pop('return_named_inout', False)
    export_params = kwargs.get('export_params', True)
    onnx_model, inputs, outputs = export(
        model,
        args,
        os.path.join(out_dir, 'model.onnx'),
        return_named_inout=True,
        no_testcase=True,
        **kwargs,
    )
    tensors: dict[str, Any] = dict(inputs)
    if not export_params:
        params = _params_by_name(model)
        names = [info.name for info in onnx_model.graph.input]
        tensors.update({name: params[name] for name in names if name in params})
    _write(data_dir, 'input', tensors)
    _write(data_dir, 'output', outputs)
    if output_grad:
        _write(data_dir, 'gradient', _gradients(model, outputs, output_grad == 'dummy'))
    if return_named_inout:
        return onnx_model, inputs, outputs
    return onnx_model


def _params_by_name(model):
    return {onnx_helper.cleanse_param_name(path): p for path, p in model.namedparams()}


def _write(folder: str, kind: str, values: Mapping[str, Any]) -> None:
    for name in os.listdir(folder):
        if name.startswith(f'{kind}_'):
            os.remove(os.path.join(folder, name))
    for i, (name, value) in enumerate(values.items()):
        onnx_helper.write_tensor_pb(os.path.join(folder, f'{kind}_{i}.pb'), name, value)


def _gradients(model, outputs, is_dummy):
    """Gradients of the parameters that have one."""
    params = _params_by_name(model)
    if is_dummy:
        return {name: p.xp.ones_like(p.array) for name, p in params.items() if p.array is not None}
    first = next(iter(outputs.values()))
    if first.size != 1:
        first = chainer.functions.sum(first)
    model.cleargrads()
    first.backward()
    return {name: p.grad for name, p in params.items() if p.grad is not None}
