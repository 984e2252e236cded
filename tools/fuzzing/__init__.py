"""Cases made from seeds that `tools/fuzz.py` runs: model files, tables."""
