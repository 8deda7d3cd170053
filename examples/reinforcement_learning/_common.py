"""Code shared by the reinforcement learning examples: command line, memory, networks."""

import argparse
import collections
import random

import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

Transition = collections.namedtuple('Transition', 'state action reward next_state terminal')


def make_parser(description, env, batch_size, unit, reward_scale):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        '--env', default=env, help='Environment: CartPole-v0, Pendulum-v0 or a Gymnasium name'
    )
    parser.add_argument(
        '--batch-size',
        '-b',
        type=int,
        default=batch_size,
        help='Number of transitions in each mini-batch',
    )
    parser.add_argument(
        '--episodes', '-e', type=int, default=1000, help='Number of episodes to run'
    )
    parser.add_argument(
        '--device',
        '-d',
        default='-1',
        help='Device: a GPU number (negative for CPU), or @numpy, @cupy:0, native:0',
    )
    parser.add_argument('--out', '-o', default='result', help='Directory to output the result')
    parser.add_argument(
        '--unit', '-u', type=int, default=unit, help='Number of units in each hidden layer'
    )
    parser.add_argument(
        '--reward-scale',
        type=float,
        default=reward_scale,
        help='Scale of the rewards, for numerical stability',
    )
    parser.add_argument(
        '--replay-start-size',
        type=int,
        default=500,
        help='Number of transitions to collect before training starts',
    )
    parser.add_argument('--render', action='store_true', help='Show the environment')
    group = parser.add_argument_group('deprecated arguments')
    group.add_argument(
        '--gpu',
        '-g',
        dest='device',
        type=int,
        nargs='?',
        const=0,
        help='GPU number (negative value indicates CPU)',
    )
    group.add_argument(
        '--no-record', action='store_true', help='Has no effect: videos are not recorded'
    )
    return parser


class MLP(chainer.Chain):
    """Two hidden layers of ReLU units; initial outputs are near zero."""

    def __init__(self, n_units, n_out):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(n_units, n_units)
            self.l3 = L.Linear(n_units, n_out, initialW=chainer.initializers.Uniform(0.003))

    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


class ReplayBuffer:
    """Stores the latest transitions."""

    def __init__(self, capacity=10**6):
        self.transitions = collections.deque(maxlen=capacity)

    def __len__(self):
        return len(self.transitions)

    def add(self, *transition):
        self.transitions.append(Transition(*transition))

    def sample(self, n, device):
        """Returns ``n`` random transitions as one transition of arrays."""
        batch = Transition(*zip(*random.sample(self.transitions, n)))
        dtypes = Transition(np.float32, None, np.float32, np.float32, np.float32)
        return Transition(
            *[device.send(np.array(values, dtype)) for values, dtype in zip(batch, dtypes)]
        )


def discounted(reward, terminal, next_value, gamma=0.99):
    """Returns the values of states, given the values of the next states."""
    return reward + gamma * (1 - terminal) * next_value
