"""Configurations of models, as ``config.json`` has them."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from os import PathLike

    from typing_extensions import Self


@dataclasses.dataclass
class PretrainedConfig:
    """Base of the configurations of models, as ``config.json`` has them.

    Attributes:
        others (dict): What else ``config.json`` says, to be written again.

    """

    model_type: ClassVar[str]
    architecture: ClassVar[str]
    #: Options that change the computation, and the only value of each that the model has.
    fixed: ClassVar[dict[str, Any]] = {}

    others: dict[str, Any] = dataclasses.field(default_factory=dict, kw_only=True)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Reads a configuration.

        Args:
            path (str or path): The file ``config.json``.

        Raises:
            ValueError: It is of another model, or of a variant that the class cannot compute.

        """
        with open(path, encoding='utf-8') as file:
            values = json.load(file)
        kind = values.get('model_type') if isinstance(values, dict) else None
        if kind != cls.model_type:
            raise ValueError(f'{path} has a model of type {kind!r}, {cls.model_type!r} is expected')
        for key, value in cls.fixed.items():
            if values.get(key, value) != value:
                raise ValueError(f'{path} has {key}={values[key]!r}, only {value!r} is supported')
        names = {field.name for field in dataclasses.fields(cls)} - {'others'}
        known = {key: values[key] for key in names & values.keys()}
        others = values.keys() - names - {'model_type', 'architectures'}
        return cls(**known, others={key: values[key] for key in others})

    def to_dict(self) -> dict[str, Any]:
        """Returns what to write to ``config.json``."""
        values = dataclasses.asdict(self)
        others = values.pop('others')
        kind = {'model_type': self.model_type, 'architectures': [self.architecture]}
        return others | kind | values
