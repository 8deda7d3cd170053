"""
Balance a pole
==============

An agent pushes a cart to the left or to the right to keep a pole upright, and learns from the
rewards alone: a policy gradient with a baseline (Williams, 1992; Sutton et al., 2000).
"""

import matplotlib.pyplot as plt
import numpy as np

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L

np.random.seed(1)

# %%
# The world
# ---------
# The equations of motion are those of Barto, Sutton and Anderson (1983) without friction. All carts
# of a batch move at once.


def move(state, push):
    """Moves carts by 20 ms; ``push`` is 1 to the right and -1 to the left."""
    x, v, angle, w = state.T
    force = (10 * push + 0.05 * w**2 * np.sin(angle)) / 1.1
    turn = 9.8 * np.sin(angle) - np.cos(angle) * force
    turn /= 0.5 * (4 / 3 - 0.1 * np.cos(angle) ** 2 / 1.1)
    forward = force - 0.05 * turn * np.cos(angle) / 1.1
    return state + 0.02 * np.stack([v, forward, w, turn], axis=1)


def stands(state):
    return (abs(state[:, 0]) < 2.4) & (abs(state[:, 2]) < 0.21)


# %%
# The agent
# ---------
# One network chooses the push, the other predicts how long the pole stands.

policy = chainer.Sequential(L.Linear(4, 64), F.tanh, L.Linear(64, 2))
baseline = chainer.Sequential(L.Linear(4, 64), F.tanh, L.Linear(64, 1))


def play(n, steps=200):
    """Returns the states, actions and whether the pole stood, of shape (steps, n, ...)."""
    state = np.random.uniform(-0.05, 0.05, (n, 4))
    alive = np.ones(n, bool)
    states, actions, lives = [], [], []
    with chainer.no_backprop_mode():
        for _ in range(steps):
            x = state.astype(np.float32)
            action = D.Categorical(logit=policy(x)).sample().array
            states.append(x)
            actions.append(action)
            lives.append(alive)
            state = move(state, 2 * action - 1)
            alive = alive & stands(state)
    return np.stack(states), np.stack(actions), np.stack(lives)


# %%
# Learning
# --------
# The return of a step is the number of steps that follow, discounted. Steps with a higher return
# than the baseline expected become more probable.

p_optimizer = chainer.optimizers.Adam(alpha=0.01).setup(policy)
b_optimizer = chainer.optimizers.Adam(alpha=0.01).setup(baseline)
lengths = []
for _ in range(60):
    states, actions, lives = play(16)
    lengths.append(lives.sum(axis=0))
    returns = lives.astype(np.float32)
    for i in reversed(range(len(returns) - 1)):
        returns[i] += 0.98 * returns[i + 1] * lives[i]
    x, action, r = states[lives], actions[lives], returns[lives]

    expected = baseline(x)[:, 0]
    advantage = r - expected.array
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    chosen = D.Categorical(logit=policy(x)).log_prob(action)

    for model, optimizer, loss in [
        (policy, p_optimizer, -F.mean(chosen * advantage)),
        (baseline, b_optimizer, F.mean_squared_error(expected, r)),
    ]:
        model.cleargrads()
        loss.backward()
        optimizer.update()

lengths = np.array(lengths)
print('steps at first', lengths[:5].mean().round(), 'and at last', lengths[-5:].mean().round())

# %%
fig, axis = plt.subplots(figsize=(6, 3))
axis.plot(lengths.mean(axis=1), label='mean of 16 games')
axis.fill_between(range(len(lengths)), lengths.min(axis=1), lengths.max(axis=1), alpha=0.2)
axis.set(xlabel='update', ylabel='steps (200 at most)')
axis.legend(frameon=False)
fig.tight_layout()

# %%
# One game
# --------
# Cart and pole every ten steps of 20 ms, from light to dark.

states, _, lives = play(1)
states = states[lives][::10]
fig, axis = plt.subplots(figsize=(8, 2.6))
for i, (x, _, angle, _) in enumerate(states):
    colour = plt.cm.Blues(0.25 + 0.75 * i / len(states))
    axis.plot([x, x + np.sin(angle)], [0, np.cos(angle)], color=colour)
    axis.plot(x, 0, marker='s', markersize=8, color=colour)
axis.set(ylim=(-0.2, 1.2), xlabel='position', aspect='equal', yticks=[])
fig.tight_layout()
