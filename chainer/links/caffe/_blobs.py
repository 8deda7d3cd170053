"""Arrays and sizes in the messages of Caffe's files."""

from __future__ import annotations

from typing import Any

import numpy

# The four sizes of a blob, which old files store as such.


def get_num(blob: Any) -> int:
    return blob.num if blob.num > 0 else blob.shape.dim[0]


def get_channels(blob: Any) -> int:
    return blob.channels if blob.channels > 0 else blob.shape.dim[1]


def get_height(blob: Any) -> int:
    return blob.height if blob.height > 0 else blob.shape.dim[-2]


def get_width(blob: Any) -> int:
    return blob.width if blob.width > 0 else blob.shape.dim[-1]


def get_array(blob: Any) -> numpy.ndarray:
    data = numpy.asarray(blob.data if len(blob.data) else blob.double_data, numpy.float32)
    if blob.HasField('shape'):
        shape = tuple(blob.shape.dim)
    else:
        shape = blob.num, blob.channels, blob.height, blob.width
    return data.reshape(shape)


def get_arrays(layer: Any, n: int) -> list[numpy.ndarray]:
    """Returns the blobs of a layer, at least ``n``."""
    if len(layer.blobs) < n:
        raise ValueError(f'layer "{layer.name}" has {len(layer.blobs)} blobs, but {n} are expected')
    arrays = [get_array(blob) for blob in layer.blobs]
    if any(array.size == 0 for array in arrays):
        raise ValueError(f'layer "{layer.name}" has an empty blob')
    return arrays


def get_weights(layer: Any, bias_term: bool) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    W, *rest = get_arrays(layer, 2 if bias_term else 1)
    return W, rest[0].ravel() if bias_term else None


def expand_groups(W: numpy.ndarray, groups: int) -> numpy.ndarray:
    """Returns the equivalent filter without groups."""
    if W.ndim != 4:
        raise RuntimeError(f'filters over {W.ndim - 2} axes are not supported')
    if groups == 1:
        return W
    if groups < 1 or W.shape[0] % groups != 0:
        raise ValueError(f'{W.shape[0]} filters cannot be in {groups} groups')
    n, m = W.shape[0] // groups, W.shape[1]
    dense = numpy.zeros((W.shape[0], m * groups, *W.shape[2:]), W.dtype)
    for i in range(groups):
        dense[i * n : (i + 1) * n, i * m : (i + 1) * m] = W[i * n : (i + 1) * n]
    return dense


def get_ksize(param: Any) -> Any:
    return get_sizes(param, 'kernel', 'kernel_size', 0)


def get_stride(param: Any) -> Any:
    return get_sizes(param, 'stride', 'stride', 1)


def get_pad(param: Any) -> Any:
    return get_sizes(param, 'pad', 'pad', 0)


def get_sizes(param, name, common_name, default):
    """Returns one size or a pair; Caffe has fields for both axes and for each."""
    h, w = getattr(param, name + '_h'), getattr(param, name + '_w')
    if h > 0 or w > 0:
        return h, w
    return _first_or_all(getattr(param, common_name), default)


def get_dilation(param: Any) -> Any:
    return _first_or_all(param.dilation, 1)


def _first_or_all(value, default):
    if isinstance(value, int):
        return value
    if not value:
        return default
    return value[0] if len(value) == 1 else tuple(value)
