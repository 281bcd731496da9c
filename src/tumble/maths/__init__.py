"""Mathematics that knows nothing of characters: sampling, a kD-tree, neighbours, vectors and turns in compiled code.

Numpy and numba alone; nothing of ours is imported here but `tumble.errors`.
"""
