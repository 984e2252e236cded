"""Checks of what a user brings, each in one place."""
