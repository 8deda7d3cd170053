"""Links that connect units: linear maps, convolutions and the like."""
