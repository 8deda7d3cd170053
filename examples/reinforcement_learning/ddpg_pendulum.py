#!/usr/bin/env python
"""Learns to swing up a pendulum by deep deterministic policy gradients (DDPG)."""

import os

import environments
import numpy as np
from _common import MLP, ReplayBuffer, discounted, make_parser

import chainer
import chainer.functions as F


class QFunction(MLP):
    """Value of an action in a state."""

    def __init__(self, n_units):
        super().__init__(n_units, 1)

    def forward(self, state, action):
        return super().forward(F.concat([state, action], axis=1))[:, 0]


class Policy(MLP):
    """Action for a state, within bounds."""

    def __init__(self, n_units, bound):
        super().__init__(n_units, len(bound))
        self.add_persistent('bound', bound)

    def forward(self, state):
        return F.tanh(super().forward(state)) * self.bound


def get_action(policy, state):
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        action = policy(policy.device.send(state[None]))
    return chainer.get_device('@numpy').send(action.array)[0]


def soft_copy_params(source, target, tau):
    """Moves the parameters of ``target`` towards those of ``source``."""
    for s, t in zip(source.params(), target.params()):
        t.array[...] = (1 - tau) * t.array + tau * s.array


def update(Q, target_Q, policy, target_policy, opt_Q, opt_policy, batch, tau):
    # The values follow from the rewards and the values of the next states, ...
    with chainer.no_backprop_mode():
        next_value = target_Q(batch.next_state, target_policy(batch.next_state))
        target = discounted(batch.reward, batch.terminal, next_value.array)
    loss = F.mean_squared_error(Q(batch.state, batch.action), target)
    Q.cleargrads()
    loss.backward()
    opt_Q.update()

    # ... and the policy takes actions of higher values.
    loss = -F.mean(Q(batch.state, policy(batch.state)))
    policy.cleargrads()
    loss.backward()
    opt_policy.update()

    soft_copy_params(Q, target_Q, tau)
    soft_copy_params(policy, target_policy, tau)


def main():
    parser = make_parser(
        'Chainer example: DDPG', 'Pendulum-v0', batch_size=64, unit=100, reward_scale=1e-3
    )
    parser.add_argument(
        '--tau', type=float, default=1e-2, help='Update rate of the target networks per step'
    )
    parser.add_argument(
        '--noise-scale',
        type=float,
        default=0.4,
        help='Standard deviation of the action noise, relative to the action bound',
    )
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    env = environments.make(args.env, args.render)
    print(f'Device: {device}')
    print(f'Environment: {args.env}')

    Q = QFunction(args.unit)
    policy = Policy(args.unit, env.action_bound)
    # initializes all parameters
    state = np.zeros((1, env.state_size), np.float32)
    Q(state, policy(state))
    Q.to_device(device)
    policy.to_device(device)
    target_Q = Q.copy('copy')
    target_policy = policy.copy('copy')
    opt_Q = chainer.optimizers.Adam().setup(Q)
    opt_policy = chainer.optimizers.Adam(alpha=1e-4).setup(policy)
    buffer = ReplayBuffer()

    iteration = 0
    returns = []
    for episode in range(args.episodes):
        state = env.reset()
        total = 0
        terminal = last = False
        while not (terminal or last):
            noise = np.random.normal(scale=args.noise_scale, size=env.action_size)
            action = np.clip(
                get_action(policy, state) + noise * env.action_bound,
                -env.action_bound,
                env.action_bound,
            ).astype(np.float32)
            next_state, reward, terminal, last = env.step(action)
            buffer.add(state, action, reward * args.reward_scale, next_state, terminal)
            state = next_state
            total += reward
            iteration += 1
            if len(buffer) >= max(args.replay_start_size, args.batch_size):
                update(
                    Q,
                    target_Q,
                    policy,
                    target_policy,
                    opt_Q,
                    opt_policy,
                    buffer.sample(args.batch_size, device),
                    args.tau,
                )
        returns.append(total)
        print(
            f'episode: {episode + 1} iteration: {iteration} return: {total:.1f} mean of '
            f'the last 100: {np.mean(returns[-100:]):.1f}'
        )

    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'q_function.npz'), Q)
    chainer.serializers.save_npz(os.path.join(args.out, 'policy.npz'), policy)


if __name__ == '__main__':
    main()
