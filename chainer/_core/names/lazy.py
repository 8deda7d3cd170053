"""Attributes of packages that are imported at their first use.

Chainer has hundreds of small modules, and a program uses few of them. A package therefore lists its
exports in ``__init__.pyi``, which editors and type checkers read too, and imports the module of a
name when the name is used. Scientific Python's SPEC 1 describes the practice.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def exports_of_stub(package: str) -> dict[str, str]:
    """Reads what ``__init__.pyi`` of a package exports.

    Args:
        package: Full name of the package, whose stub has only lines
            ``from MODULE import NAME as NAME``.

    Returns:
        Module of each name, as :func:`attach` takes it.

    """
    source = pkgutil.get_data(package, '__init__.pyi')
    assert source is not None
    exports = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                # Submodules come by `from PACKAGE import MODULE as MODULE`.
                submodule = statement.module == package
                exports[alias.name] = f'{package}.{alias.name}' if submodule else statement.module
    return exports


def attach(package: str, exports: Mapping[str, str]) -> None:
    """Makes a package import its names at their first use.

    Args:
        package: Full name of the package.
        exports: Module of each name. A name whose module is ``PACKAGE.NAME`` is that submodule.

    """
    module = sys.modules[package]

    def __getattr__(name: str) -> Any:
        if name not in exports:
            from chainer._core.names import hints

            raise hints.of_module(package, name)
        source = exports[name]
        value = importlib.import_module(source)
        if source != f'{package}.{name}':
            value = getattr(value, name)
        return vars(module).setdefault(name, value)  # the next use finds it without this function

    def __dir__() -> list[str]:
        return sorted({*vars(module), *exports})

    module.__getattr__, module.__dir__ = __getattr__, __dir__  # type: ignore[method-assign]


def attach_submodules(package: str) -> None:
    """Makes a package import its submodules at their first use.

    Args:
        package: Full name of the package.

    """
    module = sys.modules[package]

    def __getattr__(name: str) -> Any:
        source = f'{package}.{name}'
        if not name.startswith('__'):  # Python asks for `__path__` and the like
            try:
                return importlib.import_module(source)
            except ModuleNotFoundError as error:
                if error.name != source:
                    raise
        raise AttributeError(f'module {package!r} has no attribute {name!r}')

    def __dir__() -> list[str]:
        return sorted({*vars(module), *(m.name for m in pkgutil.iter_modules(module.__path__))})

    module.__getattr__, module.__dir__ = __getattr__, __dir__  # type: ignore[method-assign]
