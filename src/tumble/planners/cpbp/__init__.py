"""Control Particle Belief Propagation (hamalainen2015), and PF-MPC, which is its forward pass alone."""
