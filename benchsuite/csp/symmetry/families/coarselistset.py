"""CoarseGrainedListSet: a set as a sorted linked list under one lock (Herlihy and Shavit, "The Art of Multiprocessor
Programming", section 9.4; named in Gibson-Robinson and Lowe, 2019, section 8).

Broken, no thread takes the lock.
"""

from families import listsets

PARAMETERS = ("nodes", "threads")
CLAIM = "SPEC({}) [T= SYSTEM"
INDICES = ()
FIXED = False
INSTANCES = (((3, 2), "quick", True), ((3, 3), "normal", True), ((4, 3), "normal", True), ((5, 3), "normal", False), ((6, 3), "large", False), ((7, 3), "large", False))
PUBLISHED = {(4, 3): ("70.33M", "771.8K", None), (5, 3): ("1666M", "4140K", None), (6, 3): (None, "19.15M", None), (7, 3): (None, "107.5M", None)}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2, 2): (3_520, 968, 968), (3, 2): (39_864, 4_301, 4_301)}


def script(nodes, threads, broken, fixed):
    lock, unlock = ("", "SKIP") if broken else ("lock.me -> ", "unlock.me -> SKIP")
    return listsets.head(nodes, threads) + f"""
channel lock, unlock : Thread
LOCK = lock?t -> unlock.t -> LOCK

THREAD(me) = begin.me?op?x -> {lock}getNext.me.Header?c -> SEARCH(me, op, x, Header, c) ; {unlock} ; THREAD(me)
SEARCH(me, op, x, p, c) =
  if c == Null then ACT(me, op, x, p, c, false)
  else getDatum.me.c?d -> (if d < x then getNext.me.c?c' -> SEARCH(me, op, x, c, c') else ACT(me, op, x, p, c, d == x))
{listsets.ACT}
SYSTEM =
  ((||| t : Thread @ THREAD(t)) [| union(List, {{| lock, unlock |}}) |] (LIST ||| LOCK))
  \\ diff(Events, {{| add, remove, contains |}})
{listsets.SPEC}"""
