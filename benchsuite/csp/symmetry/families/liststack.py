"""ListStack: a stack as a linked list under one lock (Gibson-Robinson and Lowe, "Symmetry reduction in CSP model checking", 2019, figures 1 and 2).

The model is the one of `benchsuite/csp/generate stack`, and is asked from there. Broken, nobody takes the lock.
"""

import pathlib
import subprocess

PARAMETERS = ("nodes", "threads", "data")
CLAIM = "SPEC(<>) [T= SYSTEM"
INDICES = ("diff(NodeOrNull, {| Null |})", "Thread")
FIXED = False


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
