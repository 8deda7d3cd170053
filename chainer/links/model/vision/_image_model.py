"""Base of the models for images: layers by name, image preparation, prediction."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy

from chainer import functions, link, variable
from chainer._core.settings.dtype import get_dtype
from chainer.configuration import using_config
from chainer.dataset import convert, download
from chainer.function import no_backprop_mode
from chainer.serializers import npz
from chainer.utils import _old_arguments, argument, imgproc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from chainer.link import Link
    from chainer.types import VariableLike
    from chainer.variable import Variable


def prepare_image(image: Any, size: Sequence[int], mean: tuple[float, ...]) -> numpy.ndarray:
    """Converts an image to the input of a model: BGR planes minus their means.

    Args:
        image (PIL.Image or numpy.ndarray): Image. An array has the shape
            ``(height, width)``, ``(height, width, channels)`` or
            ``(channels, height, width)``, and its channels are RGB.
        size (pair of ints): Width and height to scale to. If ``None``, the
            image keeps its size.
        mean (tuple of floats): Means of blue, green and red.

    Returns:
        numpy.ndarray: Array of the shape ``(3, height, width)``.

    """
    try:
        from PIL import Image
    except ImportError as e:
        raise ImportError(
            f'PIL cannot be loaded. Install Pillow!\nThe actual import error is as follows:\n{e}'
        ) from e
    dtype = get_dtype(map_mixed16=numpy.float16)
    if isinstance(image, numpy.ndarray):
        image = Image.fromarray(_channels_last(image).astype(numpy.uint8))
    image = image.convert('RGB')
    if size:
        image = image.resize(size)
    image = numpy.asarray(image, dtype=dtype)[:, :, ::-1]
    return (image - numpy.array(mean, dtype=dtype)).transpose(2, 0, 1)


def _channels_last(image):
    if image.ndim == 3 and image.shape[0] == 1:
        return image[0]
    if image.ndim == 3 and image.shape[0] == 3:
        return image.transpose(1, 2, 0)
    return image


def load_from_cache(name: str, make: Callable[..., Any], model: Link) -> None:
    """Loads a model from an npz file in the dataset folder; creates a missing file.

    Args:
        name (str): Name of the file.
        make (callable): Writes the file to the given path.
        model (~chainer.Link): Model to fill.

    """

    def create(path):
        make(path)
        npz.load_npz(path, model)

    root = download.get_dataset_directory('pfnet/chainer/models/')
    download.cache_or_load_file(
        os.path.join(root, name), create, lambda path: npz.load_npz(path, model)
    )


class ImageModel(link.Chain):
    """Base of the models for images.

    Subclasses define ``functions``, a dictionary from layer names to lists of
    callables, and ``_prepare``.
    """

    _default_layer: str  # what `extract` computes
    # Layers that start from an earlier one than the one before, which they name.
    _branches: dict[str, str] = {}

    @property
    def functions(self) -> dict[str, list[Callable[..., Any]]]:
        """Callables of every layer by its name, in the order of computation."""
        raise NotImplementedError

    @staticmethod
    def _prepare(image, size):
        raise NotImplementedError

    @property
    def available_layers(self) -> list[str]:
        """Names of the layers."""
        return list(self.functions)

    def forward(
        self, x: VariableLike, layers: Sequence[str] | None = None, **kwargs: Any
    ) -> dict[str, Variable]:
        """Computes activations of layers.

        Args:
            x (~chainer.Variable): Batch of prepared images.
            layers (list of str): Names of the layers. The default is
                ``['prob']``, the probabilities of the classes.

        Returns:
            dict: Activations, variables by the name of the layer.

        """
        argument.parse_kwargs(kwargs, test=_old_arguments.TEST, train=_old_arguments.TRAIN)
        targets = {'prob'} if layers is None else set(layers)
        self._check_layers(targets)
        activations = {}
        branch_points: dict[str | None, Variable] = {}
        h: Any = x
        for name, funcs in self.functions.items():
            if not targets:
                break
            h = branch_points.get(self._branches.get(name), h)
            for func in funcs:
                h = func(h)
            if name in self._branches.values():
                branch_points[name] = h
            if name in targets:
                activations[name] = h
                targets.remove(name)
        return activations

    def _check_layers(self, names):
        unknown = names.difference(self.functions)
        if unknown:
            raise ValueError(
                f'unknown layer(s) {sorted(unknown)}: the layers are {self.available_layers}'
            )

    def extract(
        self,
        images: Iterable[Any],
        layers: Sequence[str] | None = None,
        size: Sequence[int] = (224, 224),
        **kwargs: Any,
    ) -> dict[str, Variable]:
        """Computes activations of layers for images.

        Args:
            images (iterable of PIL.Image or numpy.ndarray): Images.
            layers (list of str): Names of the layers. The default is the last
                layer before the classification.
            size (pair of ints): Width and height to scale images to. ``None``
                keeps their size.

        Returns:
            dict: Activations, variables by the name of the layer.

        """
        argument.parse_kwargs(
            kwargs,
            test=_old_arguments.TEST,
            train=_old_arguments.TRAIN,
            volatile=_old_arguments.VOLATILE,
        )
        x = convert.concat_examples([self._prepare(image, size) for image in images])
        return self(self._to_variable(x), [self._default_layer] if layers is None else layers)

    def predict(self, images: Iterable[Any], oversample: bool = True) -> Variable:
        """Computes the probabilities of the classes for images.

        Args:
            images (iterable of PIL.Image or numpy.ndarray): Images.
            oversample (bool): If ``True``, averages over ten crops: four
                corners and the center, and their mirror images. If ``False``,
                uses only the center.

        Returns:
            ~chainer.Variable: Probabilities of the shape
            ``(number of images, 1000)``.

        """
        x = convert.concat_examples([self._prepare(image, (256, 256)) for image in images])
        if oversample:
            x = imgproc.oversample(x, (224, 224))
        else:
            x = x[:, :, 16:240, 16:240]
        with no_backprop_mode(), using_config('train', False):
            y = self(self._to_variable(x), ['prob'])['prob']
            if oversample:
                y = functions.average(functions.reshape(y, (-1, 10, y.shape[1])), axis=1)
        return y

    def _to_variable(self, x):
        return variable.Variable(self.device.send(x))
