"""Links that connect units, such as linear layers and convolutions."""
