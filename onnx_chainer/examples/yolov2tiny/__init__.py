"""Export of Tiny YOLO v2."""
