"""The groups of benchmarks: each module has a function `measure` from settings to a report."""

from __future__ import annotations

# Every group with the title of its chapter, in the order in which they are measured. Two threads come first: what the
# peers leave running, idle threads and a large heap, slows the threads down.
CHAPTERS = {
    "generation": "One generation with one and two threads",
    "threads": "Two threads",
    "vecmath": "Vector functions",
    "lstm": "Forward pass",
    "wide": "Forward pass of wide networks",
    "mutation": "Mutation",
    "gram": "Kernel matrix",
    "svc": "Classification machines",
    "svr": "Regression machines",
    "working_sets": "Machines with many rows",
    "lssvm": "Least-squares machines",
    "landmarks": "Machines on landmarks",
    "evaluation": "Evaluation of a network",
    "leave_one_out": "Leave-one-out evaluation",
    "growth": "How cost grows",
    "memory": "Memory",
    "peers_anbncn": "The string task: other methods",
    "peers_sines": "The sine task: other methods",
    "real_data": "Real data: other methods",
    "ideas": "What single ideas are worth",
    "simd": "Instruction sets",
    "breakdown": "Parts of an evaluation",
    "evolution": "A whole evolution",
    "sines": "Readouts of the sine task",
    "backends": "Backends",
    "islands": "Islands",
}
