"""Prints the versions of Chainer's environment, for reports of bugs: ``python -m chainer``."""

from chainer import print_runtime_info

if __name__ == '__main__':
    print_runtime_info()
