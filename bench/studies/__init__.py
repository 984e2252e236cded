"""Studies with a command line of their own: `python bench/study.py NAME`."""
