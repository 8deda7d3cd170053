"""Export of ResNet-50."""
