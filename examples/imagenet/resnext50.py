from resnet50 import ResNet50


class ResNeXt50(ResNet50):
    """ResNeXt with 50 layers: 3x3 convolutions in 32 groups of 4 channels and more.

    Source: S. Xie et al., Aggregated Residual Transformations for Deep Neural Networks, 2017.
    """

    groups = 32
    width = 128
