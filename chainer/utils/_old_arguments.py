"""What to say to programs that pass arguments of Chainer 1."""

TEST = 'test argument is not supported anymore. Use chainer.using_config'
TRAIN = 'train argument is not supported anymore. Use chainer.using_config'
USE_CUDNN = 'use_cudnn argument is not supported anymore. Use chainer.using_config'
VOLATILE = 'volatile argument is not supported anymore. Use chainer.using_config'
