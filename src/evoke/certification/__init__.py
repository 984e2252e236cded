"""Machine-made proofs that a network accepts every string of a family."""
