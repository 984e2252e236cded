"""Typed loops over contiguous arrays around the C core: arrays in, arrays out."""
