"""Runs a program on a terminal of its own, types, and says what was seen.

    terminal.py STEPS PROGRAM ARGUMENT...

STEPS is JSON: a list of [KEYS, TEXT, ...]. The driver types the keys, and then reads the output until the texts have
come, one after the other. It prints JSON: all output ("seen"), how many steps had their texts ("reached"), and the exit
code ("code"; null when it had to be killed). The terminal is as wide as the variable COLUMNS says, if it is set.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 60.0


def main():
    steps, arguments = json.loads(sys.argv[1]), sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        if "COLUMNS" in os.environ:
            size = struct.pack("HHHH", 24, int(os.environ["COLUMNS"]), 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
        os.execv(arguments[0], arguments)
    seen, reached, open_ = b"", 0, True

    def have_come(texts, start):
        for text in texts:
            start = seen.find(text.encode(), start)
            if start < 0:
                return False
            start += len(text.encode())
        return True

    def read_until(done):
        """Reads until it is done, or nothing more comes."""
        nonlocal seen, open_
        end = time.monotonic() + PATIENCE
        while open_ and time.monotonic() < end and not done():
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    piece = os.read(terminal, 1 << 16)
                except OSError:
                    piece = b""
                seen += piece
                open_ = bool(piece)
        return done()

    for keys, *texts in steps:
        start = len(seen)
        try:
            os.write(terminal, keys.encode())
        except OSError:
            break
        if not read_until(lambda: have_come(texts, start)):
            break
        reached += 1
    if reached == len(steps):
        read_until(lambda: False)
    code, end = None, time.monotonic() + 10
    while code is None and time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
        else:
            time.sleep(0.05)
    if code is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps({"seen": seen.decode(errors="replace"), "reached": reached, "code": code}))


main()
