"""Models in folders of a configuration and weights, in which they are shared."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, ClassVar

from chainer.serializers import _storage
from chainer.serializers.safetensors import save_safetensors
from chainer.serializers.weights import open_weights

if TYPE_CHECKING:
    from os import PathLike
    from typing import IO

    from typing_extensions import Self

    from chainer.links.model._config import PretrainedConfig
    from chainer.serializers.name_table import NameTable

_CONFIG = 'config.json'
_WEIGHTS = 'model.safetensors'


class Pretrained:
    """Base of models whose weights have names of another library.

    :class:`~chainer.links.BERT`, :class:`~chainer.links.GPT2`,
    :class:`~chainer.links.TorchvisionResNet` and :class:`~chainer.links.TorchvisionVGG` derive from
    it. Their constructors take the configuration and ``initialW``.

    Attributes:
        config: Sizes of the model.

    .. admonition:: Example

        >>> import tempfile
        >>> config = L.GPT2Config(vocab_size=99, n_positions=16, n_embd=8, n_layer=2, n_head=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     L.GPT2(config).save_pretrained(folder)
        ...     model = L.GPT2.from_pretrained(folder)
        >>> model.config.n_embd
        8

    """

    config: PretrainedConfig
    _config_class: ClassVar[type[PretrainedConfig]]

    @classmethod
    def from_pretrained(cls, source: str | PathLike[str], **kwargs: Any) -> Self:
        """Makes a model from a folder that :meth:`save_pretrained` or another library wrote.

        The folder has ``config.json``, and weights as :func:`chainer.serializers.open_weights`
        reads them. Weights of lower precision become those of ``chainer.config.dtype``.

        Args:
            source (str or path): Folder, or else the name of a model in the Hugging Face Hub, such
                as ``'google-bert/bert-base-uncased'``. The latter needs the package
                ``huggingface_hub``, which downloads the model once.
            kwargs: Other arguments of the constructor.

        Raises:
            FileNotFoundError: There is no such folder, or it lacks a file.
            ImportError: There is no such folder, and ``huggingface_hub`` is not installed.
            ValueError: The model is of another type, or the weights do not fit. The message lists
                all names that are missing, unexpected or of another shape.

        """
        folder = _find_folder(source)
        config = cls._config_class.read(os.path.join(folder, _CONFIG))
        # Skip the random initialization of parameters that are loaded next.
        model = cls._from_config(config, initialW=0, **kwargs)
        model.load_weights(folder)
        return model

    @classmethod
    def _from_config(cls, config: Any, **kwargs: Any) -> Self:
        return cls(config, **kwargs)  # type: ignore[call-arg]

    def _table(self) -> NameTable:
        """Returns the names of the weights."""
        raise NotImplementedError

    def save_pretrained(self, folder: str | PathLike[str]) -> None:
        """Writes ``config.json`` and ``model.safetensors``, with the names of the other library.

        Args:
            folder (str or path): Folder, made if it does not exist.

        """
        os.makedirs(folder, exist_ok=True)
        text = json.dumps(self.config.to_dict(), indent=2, sort_keys=True) + '\n'
        arrays = self._table().export(self)

        def write(file: IO[bytes]) -> None:
            file.write(text.encode())

        # Hugging Face's libraries refuse files that do not name a framework which they know.
        save_safetensors(os.path.join(folder, _WEIGHTS), arrays, {'format': 'pt'})
        _storage.write_file(os.path.join(folder, _CONFIG), write)

    def load_weights(self, path: str | PathLike[str] | IO[bytes]) -> None:
        """Loads all weights of the model from a file of another library, or none.

        Args:
            path (str, path or file-like): What :func:`chainer.serializers.open_weights` opens.

        Raises:
            ValueError: The weights do not fit. The message lists all names that are missing,
                unexpected or of another shape.

        """
        with open_weights(path) as tensors:
            self._table().load(tensors, self)


def _find_folder(source: str | PathLike[str]) -> str:
    path = os.fspath(source)
    if os.path.isdir(path):
        return path
    if os.path.exists(path) or os.path.isabs(path) or not isinstance(source, str):
        raise FileNotFoundError(f'{path} is no folder')
    try:
        from huggingface_hub import snapshot_download
    except ImportError as e:
        raise ImportError(
            f'{path} is no folder, and to download a model, the package huggingface_hub is needed'
        ) from e
    return snapshot_download(
        path, allow_patterns=[_CONFIG, 'model*.safetensors', 'model.safetensors.index.json']
    )
