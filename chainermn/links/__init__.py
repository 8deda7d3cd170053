"""Links that compute in several processes."""

from chainermn.links.batch_normalization import (
    MultiNodeBatchNormalization as MultiNodeBatchNormalization,
)
from chainermn.links.create_mnbn_model import create_mnbn_model as create_mnbn_model
from chainermn.links.multi_node_chain_list import MultiNodeChainList as MultiNodeChainList
from chainermn.links.n_step_rnn import create_multi_node_n_step_rnn as create_multi_node_n_step_rnn
from chainermn.links.sharded_parameters import (
    gathered_parameters as gathered_parameters,
    shard_parameters as shard_parameters,
)
