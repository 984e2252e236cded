"""Model files: written whole or not at all, read without pickle and without trust."""
