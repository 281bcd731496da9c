"""What all controllers have in common: the interface `Controller`, and nothing of any of them."""
