"""The optimizer of models whose parameters are divided between the processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainermn._sharding import parts
from chainermn._sharding.step import Step
from chainermn.links.sharded_parameters import shard_parameters
from chainermn.optimizers._multi_node import MultiNodeOptimizer
from chainermn.optimizers._sharded import check_hooks, check_method, check_rule, updating_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chainer.link import Link
    from chainermn._sharding.step import Need


class ParameterShardingOptimizer(MultiNodeOptimizer):
    """Optimizer that updates the parts of parameters that this process has.

    Backward gives the parts the means of their gradients, so this class only sees to what looks
    at all parameters together.
    """

    _order: Sequence[Need]  # what the last step needed

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.communicator.reducer.refuse_own_int8_means()
        check_method(self.actual_optimizer)
        vars(self).update(_order=())

    def setup(self, link: Link) -> Any:
        """Divides the parameters of the link to optimize; collective."""
        shard_parameters(link, self.communicator)
        return super().setup(link)

    def _check_parts(self, link: Link) -> None:
        for name, param in link.namedparams():
            part = parts.part_of(param)
            if part is not None and part.comm is not self.communicator:
                raise ValueError(f'parameter {name} is divided by another communicator')

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Updates the parts of the parameters; collective.

        Args:
            lossfun (callable): Loss function, see :meth:`chainer.GradientMethod.update`.
            args, kwds: Arguments of the loss function.

        """
        optimizer = self.actual_optimizer
        if optimizer.target is None:
            raise RuntimeError('call `setup` method before `update` method')
        self._check()
        parts.prepare_means(self.communicator)
        with updating_parts(optimizer, self.communicator):
            if lossfun is not None:
                self._compute_grads(lossfun, args, kwds)
            optimizer.update()

    def _compute_grads(self, lossfun: Callable[..., Any], args: Any, kwds: Any) -> None:
        optimizer = self.actual_optimizer
        scale = optimizer._loss_scale
        with Step(self.communicator, self._order) as step:
            loss = lossfun(*args, **kwds)
            self._clear_grads(optimizer.target)
            if scale is None:  # backward notes a scale in the parameters that it comes to
                step.let_gradients_wait()
            loss.backward(loss_scale=scale)
            step.finish()
        self._order = step.needs

    @property
    def has_equal_params(self) -> bool:
        """Whether all ranks have the same parameters: they have parts of the same ones."""
        return True

    def _check(self) -> None:
        for name, param in self.actual_optimizer.target.namedparams():
            if parts.part_of(param) is None:
                raise ValueError(
                    f'parameter {name} is not divided between the ranks: it is new, or this is '
                    'within gathered_parameters'
                )
            check_rule(param.update_rule)
        check_hooks(self.actual_optimizer)
