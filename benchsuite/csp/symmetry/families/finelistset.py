"""FineGrainedListSet: a set as a sorted linked list with a lock for each node (Herlihy and Shavit, "The Art of
Multiprocessor Programming", section 9.5; named in Gibson-Robinson and Lowe, 2019, section 8).

Locks are taken hand over hand: a thread that is about to lock a node holds the one before it. Broken, it releases that
one first.
"""

from families import listsets

PARAMETERS = ("nodes", "threads")
CLAIM = "SPEC({}) [T= SYSTEM"
INDICES = ()
FIXED = False
INSTANCES = (((3, 2), "quick", True), ((3, 3), "normal", True), ((4, 3), "normal", False), ((5, 3), "large", False), ((6, 3), "large", False))
PUBLISHED = {(3, 3): ("45.48M", "1406K", None), (4, 3): ("2274M", "18.12M", None), (5, 3): (None, "173.4M", None), (6, 3): (None, "1296M", None)}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2, 2): (6_480, 1_708, 1_708), (3, 2): (112_044, 10_782, 10_782)}


def script(nodes, threads, broken, fixed):
    if broken:
        search = """  unlock.me.p ->
  if c == Null then ACT(me, op, x, p, c, false)
  else lock.me.c -> getDatum.me.c?d -> if d < x then getNext.me.c?c' -> SEARCH(me, op, x, c, c') else (ACT(me, op, x, p, c, d == x) ; unlock.me.c -> SKIP)"""
    else:
        search = """  if c == Null then ACT(me, op, x, p, c, false) ; unlock.me.p -> SKIP
  else
    lock.me.c -> getDatum.me.c?d ->
    if d < x then unlock.me.p -> getNext.me.c?c' -> SEARCH(me, op, x, c, c')
    else (ACT(me, op, x, p, c, d == x) ; unlock.me.c -> unlock.me.p -> SKIP)"""
    return listsets.head(nodes, threads) + f"""
channel lock, unlock : Thread . Place
LOCK(n) = lock?t!n -> unlock.t.n -> LOCK(n)

THREAD(me) = begin.me?op?x -> lock.me.Header -> getNext.me.Header?c -> SEARCH(me, op, x, Header, c) ; THREAD(me)
SEARCH(me, op, x, p, c) =
{search}
{listsets.ACT}
SYSTEM =
  ((||| t : Thread @ THREAD(t)) [| union(List, {{| lock, unlock |}}) |] (LIST ||| (||| n : Place @ LOCK(n))))
  \\ diff(Events, {{| add, remove, contains |}})
{listsets.SPEC}"""
