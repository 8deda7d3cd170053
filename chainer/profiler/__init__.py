"""Where the time and the memory of a program go."""

from chainer.profiler._profile import Profile as Profile, profile as profile
