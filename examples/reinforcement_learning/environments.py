"""Environments modelled on Gym's; others come from Gymnasium."""

import numpy as np


def make(name, render=False):
    """Makes an environment by its name."""
    if name in BUILT_IN:
        return BUILT_IN[name](render)
    try:
        import gymnasium
    except ImportError:
        raise SystemExit(
            '{} needs Gymnasium (pip install gymnasium); built in are {}'.format(
                name, ', '.join(BUILT_IN)
            )
        ) from None
    return Gymnasium(gymnasium.make(name, render_mode='human' if render else None))


class Gymnasium:
    """Gymnasium environment with the interface of the classes below."""

    def __init__(self, env):
        self.env = env
        self.max_steps = env.spec.max_episode_steps
        self.state_size = env.observation_space.shape[0]
        self.n_actions = getattr(env.action_space, 'n', None)
        if self.n_actions is None:
            self.action_size = env.action_space.shape[0]
            self.action_bound = env.action_space.high

    def reset(self):
        return self.env.reset()[0].astype(np.float32)

    def step(self, action):
        state, reward, terminated, truncated, _ = self.env.step(action)
        return state.astype(np.float32), reward, terminated, truncated


class CartPole:
    """Push a cart to the left or right to balance the pole on it.

    The reward is 1 per step until the pole leans too far or the cart leaves the track.
    The equations of motion are from A. Barto, R. Sutton and C. Anderson, Neuronlike
    Adaptive Elements That Can Solve Difficult Learning Control Problems, 1983, without
    friction.
    """

    state_size = 4  # position and velocity of the cart, angle and angular velocity
    n_actions = 2
    max_steps = 200

    gravity, cart_mass, pole_mass, half_length = 9.8, 1.0, 0.1, 0.5
    force, time_step = 10.0, 0.02
    max_position, max_angle = 2.4, 12 * np.pi / 180

    def __init__(self, render=False):
        self.render = render

    def reset(self):
        self.n_steps = 0
        self.state = np.random.uniform(-0.05, 0.05, 4)
        return self.state.astype(np.float32)

    def step(self, action):
        """Returns the state, the reward, and whether the end and the last step is reached."""
        x, v, angle, w = self.state
        mass = self.cart_mass + self.pole_mass
        push = (self.force if action == 1 else -self.force) + (
            self.pole_mass * self.half_length * w**2 * np.sin(angle)
        )
        angular_acceleration = (self.gravity * np.sin(angle) - np.cos(angle) * push / mass) / (
            self.half_length * (4 / 3 - self.pole_mass * np.cos(angle) ** 2 / mass)
        )
        acceleration = (
            push - self.pole_mass * self.half_length * angular_acceleration * np.cos(angle)
        ) / mass
        self.state = self.state + self.time_step * np.array(
            [v, acceleration, w, angular_acceleration]
        )
        self.n_steps += 1
        if self.render:
            print(f'position {self.state[0]:+.2f}  angle {self.state[2]:+.3f}')
        fallen = abs(self.state[0]) > self.max_position or abs(self.state[2]) > self.max_angle
        return self.state.astype(np.float32), 1.0, fallen, self.n_steps >= self.max_steps


class Pendulum:
    """Swing up a pendulum and balance it with a torque too weak to lift it directly.

    The reward is the negative cost of angle, angular velocity and torque.
    """

    state_size = 3  # cosine and sine of the angle from the top, angular velocity
    action_size = 1
    action_bound = np.array([2.0], np.float32)
    max_steps = 200

    gravity, time_step, max_velocity = 10.0, 0.05, 8.0

    def __init__(self, render=False):
        self.render = render

    def _observe(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.velocity], np.float32)

    def reset(self):
        self.n_steps = 0
        self.angle = np.random.uniform(-np.pi, np.pi)
        self.velocity = np.random.uniform(-1, 1)
        return self._observe()

    def step(self, action):
        """Returns the state, the reward, and whether the end and the last step is reached."""
        torque = float(np.clip(action, -self.action_bound, self.action_bound)[0])
        angle = (self.angle + np.pi) % (2 * np.pi) - np.pi
        cost = angle**2 + 0.1 * self.velocity**2 + 0.001 * torque**2
        acceleration = 1.5 * self.gravity * np.sin(angle) + 3 * torque
        self.velocity = float(
            np.clip(
                self.velocity + acceleration * self.time_step, -self.max_velocity, self.max_velocity
            )
        )
        self.angle += self.velocity * self.time_step
        self.n_steps += 1
        if self.render:
            print(f'angle {angle:+.3f}  velocity {self.velocity:+.2f}')
        return self._observe(), -cost, False, self.n_steps >= self.max_steps


BUILT_IN = {'CartPole-v0': CartPole, 'Pendulum-v0': Pendulum}
