#!/usr/bin/env python
"""Learns to balance a pole by deep Q-learning: DQN and double DQN."""

import os
import random

import environments
import numpy as np
from _common import MLP, ReplayBuffer, discounted, make_parser

import chainer
import chainer.functions as F


def get_greedy_action(Q, state):
    """Returns the action of the highest value."""
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        q = Q(Q.device.send(state[None]))
    return int(q.array.argmax())


def update(Q, target_Q, optimizer, batch, double):
    """Updates the values towards the rewards plus discounted next values."""
    with chainer.no_backprop_mode():
        next_q = target_Q(batch.next_state)
        if double:
            # One network chooses the action and the other one evaluates it, so that the
            # maximum does not favour overestimated values.
            next_value = F.select_item(next_q, F.argmax(Q(batch.next_state), axis=1))
        else:
            next_value = F.max(next_q, axis=1)
        target = discounted(batch.reward, batch.terminal, next_value.array)
    loss = F.mean(
        F.huber_loss(
            F.select_item(Q(batch.state), batch.action)[:, None], target[:, None], delta=1.0
        )
    )
    Q.cleargrads()
    loss.backward()
    optimizer.update()


def main():
    parser = make_parser(
        'Chainer example: DQN', 'CartPole-v0', batch_size=64, unit=100, reward_scale=1e-2
    )
    parser.add_argument(
        '--iterations-to-decay-epsilon',
        type=int,
        default=5000,
        help='Number of steps until the rate of random actions reaches its minimum',
    )
    parser.add_argument(
        '--min-epsilon', type=float, default=0.01, help='Minimum rate of random actions'
    )
    parser.add_argument(
        '--target-update-freq',
        type=int,
        default=100,
        help='Number of steps between updates of the target network',
    )
    parser.add_argument('--double-dqn', action='store_true', help='Use double DQN')
    args = parser.parse_args()

    device = chainer.get_device(args.device)
    device.use()
    env = environments.make(args.env, args.render)
    print(f'Device: {device}')
    print(f'Environment: {args.env}')

    Q = MLP(args.unit, env.n_actions)
    Q(np.zeros((1, env.state_size), np.float32))  # initializes all parameters
    Q.to_device(device)
    target_Q = Q.copy('copy')
    target_Q.copyparams(Q)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(Q)
    buffer = ReplayBuffer()

    iteration = 0
    returns = []
    for episode in range(args.episodes):
        state = env.reset()
        total = 0
        terminal = last = False
        while not (terminal or last):
            epsilon = max(
                args.min_epsilon,
                1 - (1 - args.min_epsilon) * iteration / args.iterations_to_decay_epsilon,
            )
            if random.random() < epsilon:
                action = random.randrange(env.n_actions)
            else:
                action = get_greedy_action(Q, state)
            next_state, reward, terminal, last = env.step(action)
            buffer.add(state, np.int32(action), reward * args.reward_scale, next_state, terminal)
            state = next_state
            total += reward
            iteration += 1
            if len(buffer) >= max(args.replay_start_size, args.batch_size):
                update(
                    Q, target_Q, optimizer, buffer.sample(args.batch_size, device), args.double_dqn
                )
            if iteration % args.target_update_freq == 0:
                target_Q.copyparams(Q)
        returns.append(total)
        print(
            f'episode: {episode + 1} iteration: {iteration} return: {total:.1f} mean of '
            f'the last 100: {np.mean(returns[-100:]):.1f}'
        )

    os.makedirs(args.out, exist_ok=True)
    chainer.serializers.save_npz(os.path.join(args.out, 'q_function.npz'), Q)


if __name__ == '__main__':
    main()
