"""ListStack: a stack as a linked list under one lock (Gibson-Robinson and Lowe, "Symmetry reduction in CSP model
checking", 2019, figures 1 and 2).

The model is the one of `benchsuite/csp/generate stack`, which this module runs. Broken, no thread takes the lock.
"""

import pathlib
import subprocess

PARAMETERS = ("nodes", "threads", "data")
CLAIM = "SPEC(<>) [T= SYSTEM"
INDICES = ("diff(NodeOrNull, {| Null |})", "Thread")
FIXED = False
# Parameters, size of the instance, and whether it can be checked without reduction.
INSTANCES = (((3, 3, 2), "quick", True), ((4, 3, 3), "normal", True), ((7, 4, 2), "normal", False), ((8, 4, 2), "normal", False))
# Published: states without and with reduction (K and M as printed), and with the types that index processes alone; None
# where a run was not made.
PUBLISHED = {
    (6, 4, 3): ("5952M", "108.9K", "650.9K"),
    (7, 4, 2): ("3812M", "37.57K", "75.12K"),
    (8, 4, 2): (None, "75.33K", "150.6K"),
    (8, 4, 4): (None, "3971K", "94.39M"),
    (12, 4, 2): (None, "1208K", None),
    (19, 4, 2): (None, "154.6M", None),
}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2, 2, 2): (1_512, 210, 410), (3, 2, 2): (9_432, 458, 906), (3, 3, 2): (54_064, 1_104, 2_190), (4, 2, 2): (75_912, 954, 1_898)}


def script(nodes, threads, data, broken, fixed):
    generator = pathlib.Path(__file__).resolve().parents[2] / "generate"
    command = [str(generator), "stack", str(nodes), str(threads), str(data)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = text[: text.index("assert ")].rstrip() + "\n"
    if broken:
        for step in ("unlock.me -> ", "lock.me -> "):
            assert step in text
            text = text.replace(step, "")
    return text
