"""What other libraries call things, and what they are called here.

Errors for missing attributes take their hints from this table, and the page "From PyTorch" shows
it. The table is data.
"""

from __future__ import annotations

from chainer._core.names.elsewhere import methods, modules
from chainer._core.names.elsewhere.row import Name

#: Where PyTorch has the names of each owner.
PYTORCH: dict[str, str] = {
    'chainer': 'torch',
    'chainer.datasets': 'torch.utils.data and torchvision.datasets',
    'chainer.functions': 'torch.nn.functional',
    'chainer.initializers': 'torch.nn.init',
    'chainer.iterators': 'torch.utils.data',
    'chainer.links': 'torch.nn',
    'chainer.optimizer_hooks': 'torch.nn.utils',
    'chainer.optimizers': 'torch.optim',
    'chainer.training': 'lightning',
    'chainer.training.extensions': 'lightning.pytorch.callbacks',
    'Link': 'torch.nn.Module',
    'Optimizer': 'torch.optim.Optimizer',
    'Variable': 'torch.Tensor',
}

NAMES: tuple[Name, ...] = (*modules.NAMES, *methods.NAMES)
