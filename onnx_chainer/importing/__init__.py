"""Models in ONNX files as links.

``_tensors`` reads arrays, ``_graph`` reads a file and checks and plans its graphs, ``_plan`` runs
plans, ``registry`` is the table of operators that the modules in ``_operators`` fill, ``_standard``
expands operators that the standard defines by others, and ``chain`` makes the link.
"""

from . import _operators as _operators
from .chain import ImportedChain as ImportedChain, load as load
from .errors import ModelError as ModelError
