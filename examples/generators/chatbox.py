#!/usr/bin/env python3
"""Writes a chat box for N users as an mCRL2 specification: chatbox.py N > chatbox_N.mcrl2

Users join and leave; a present user may send a message to another present one, which stays pending until it is
acknowledged. Whether something was done is the last argument of each action. The process is one equation over N*N
Booleans, so it has 2^(N*N) states; with messages hidden it is strongly bisimilar to one with 2^N states and
2^N * (2N + 1) transitions: `trefoil mcrl2 decompose` finds that without the rest.

The model is of the shape of the chat box by Romijn and Springintveld that mCRL2 ships as an example.
"""

import sys


def main(users):
    everyone = range(users)
    pairs = [(sender, receiver) for sender in everyone for receiver in everyone if sender != receiver]
    parameters = [f"here{user}: Bool" for user in everyone]
    parameters += [f"sent{sender}_{receiver}: Bool" for sender, receiver in pairs]
    summands = []
    for user in everyone:
        summands.append(f"here{user} -> join({user}, false) . Box()")
        summands.append(f"(!here{user}) -> join({user}, true) . Box(here{user} = true)")
        summands.append(f"(!here{user}) -> leave({user}, false) . Box()")
        summands.append(f"here{user} -> leave({user}, true) . Box(here{user} = false)")
        summands.append(f"message({user}, {user}, false) . Box()")
    for sender, receiver in pairs:
        both = f"here{sender} && here{receiver}"
        sent = f"sent{sender}_{receiver}"
        for action, condition, ends, value in (
            ("message", f"{both} && !{sent}", (sender, receiver), "true"),
            ("acknowledge", f"{both} && {sent}", (receiver, sender), "false"),
        ):
            one, other = ends
            summands.append(f"({condition}) -> {action}({one}, {other}, true) . Box({sent} = {value})")
            summands.append(f"(!({condition})) -> {action}({one}, {other}, false) . Box()")
    print("act join, leave: Nat # Bool;")
    print("    message, acknowledge: Nat # Nat # Bool;")
    print(f"proc Box({', '.join(parameters)}) =")
    print("      " + "\n    + ".join(summands) + ";")
    print(f"init hide({{message, acknowledge}}, Box({', '.join(['false'] * len(parameters))}));")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdigit() or int(sys.argv[1]) < 1:
        sys.exit("usage: chatbox.py N > FILE")
    main(int(sys.argv[1]))
