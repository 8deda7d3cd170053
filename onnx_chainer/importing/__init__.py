"""Models in ONNX files as links.

``tensors`` reads arrays, ``graph`` reads a file and checks and plans its graphs, ``plan`` runs
plans, ``registry`` is the table of operators that the modules in ``operators`` fill, ``standard``
expands operators that the standard defines by others, and ``chain`` makes the link.
"""

from . import operators as operators
from .chain import ImportedChain as ImportedChain, load as load
from .errors import ModelError as ModelError
