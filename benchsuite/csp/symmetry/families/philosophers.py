"""DiningPhilosophers: philosophers who first choose their places at the table, and a butler that keeps one chair empty
(Gibson-Robinson and Lowe, 2019, section 8).

A philosopher and the fork on the left have the same name. The first steps make the ring: one philosopher sits down
first, then one after the other sits down beside the last one, until the ring is closed. So the names are symmetric, and
only the rotations are left. Fixed, the ring is written into the script, which no type shows to be symmetric any more.
Broken, the butler lets all philosophers sit down.
"""

from families.common import names

PARAMETERS = ("philosophers",)
CLAIM = "SYSTEM :[deadlock free [F]]"
INDICES = ()
FIXED = True
INSTANCES = (((5,), "quick", True), ((7,), "normal", False), ((9,), "normal", False), ((10,), "normal", False), ((12,), "large", False))
PUBLISHED = {(12,): ("544.6M", "45.38M", None), (14,): (None, "1149M", None)}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(3,): (222, 39, 39), (4,): (4_583, 197, 197), (5,): (123_950, 1_037, 1_037)}


def script(philosophers, broken, fixed):
    seats = "N" if broken else "N - 1"
    head = f"""datatype Name = {names("P", philosophers)}
N = {philosophers}
channel sit, eat, leave : Name
channel pick, drop : Name . Name              -- who, whose fork

THINKING(me, next) =
  sit.me -> pick.me.me -> pick.me.next -> eat.me -> drop.me.next -> drop.me.me -> leave.me -> THINKING(me, next)
FORK(me) = pick?p!me -> drop.p.me -> FORK(me)
BUTLER(k) = k < {seats} & sit?p -> BUTLER(k + 1) [] k > 0 & leave?p -> BUTLER(k - 1)
"""
    if fixed:
        ring = ", ".join(f"(P{n}, P{(n + 1) % philosophers})" for n in range(philosophers))
        return head + f"""
Ring = {{{ring}}}
PHILOSOPHERS = ||| (me, next) : Ring @ THINKING(me, next)
SYSTEM =
  ((PHILOSOPHERS [| {{| pick, drop |}} |] (||| n : Name @ FORK(n))) [| {{| sit, leave |}} |] BUTLER(0))
  \\ {{| pick, drop, eat |}}
"""
    return head + f"""
channel first : Name
channel beside, close : Name . Name           -- who sits already, and who beside: a newcomer, or the first one
others(me) = diff(Name, {{me}})

STANDING(me) = first.me -> FIRST(me) [] beside?p:others(me)!me -> LAST(me)
FIRST(me) = beside.me?q:others(me) -> BEGUN(me, q)
BEGUN(me, next) = close?p:others(me)!me -> THINKING(me, next)
LAST(me) = beside.me?q:others(me) -> SEATED(me, q) [] close.me?q:others(me) -> THINKING(me, q)
SEATED(me, next) = close?p:others(me)?q:others(me) -> THINKING(me, next)
HOST = first?p -> COUNT(1)
COUNT(k) = if k < N then beside?p?q -> COUNT(k + 1) else close?p?q -> STOP

Alphabet(me) =
  Union({{
    {{| first.me, beside.me, close, sit.me, eat.me, leave.me, pick.me, drop.me |}},
    {{beside.p.me | p <- Name}}}})
PHILOSOPHERS = (|| n : Name @ [Alphabet(n)] STANDING(n)) [| {{| first, beside, close |}} |] HOST
SYSTEM =
  ((PHILOSOPHERS [| {{| pick, drop |}} |] (||| n : Name @ FORK(n))) [| {{| sit, leave |}} |] BUTLER(0))
  \\ {{| first, beside, close, pick, drop, eat |}}
"""
