from models.resnet50 import ResNet50
from models.VGG import VGG
