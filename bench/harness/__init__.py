"""What the groups and the studies share: problems, timing, methods to compare with, reports."""
