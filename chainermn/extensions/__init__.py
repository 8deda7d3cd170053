"""Extensions of the trainer for training on several processes.

In the examples ``trainer``, ``updater`` and ``optimizer`` are those of :mod:`chainer.training`.
"""

from chainermn.extensions._multi_node_snapshot import multi_node_snapshot as multi_node_snapshot
from chainermn.extensions.allreduce_persistent import AllreducePersistent as AllreducePersistent
from chainermn.extensions.checkpoint import (
    create_multi_node_checkpointer as create_multi_node_checkpointer,
)
from chainermn.extensions.multi_node_early_stopping_trigger import (
    MultiNodeEarlyStoppingTrigger as MultiNodeEarlyStoppingTrigger,
)
from chainermn.extensions.multi_node_evaluator import (
    GenericMultiNodeEvaluator as GenericMultiNodeEvaluator,
    create_multi_node_evaluator as create_multi_node_evaluator,
)
from chainermn.extensions.observation_aggregator import (
    ObservationAggregator as ObservationAggregator,
)
