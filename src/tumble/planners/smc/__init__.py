"""Sequential Monte Carlo over control splines with a kD-tree (hamalainen2014)."""
