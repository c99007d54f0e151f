"""Tables: philosophers who sit down at several round tables of any size. Not one of the published families: it is here
because refinement of colours does not distinguish all its states.

Each philosopher chooses a neighbour on the right that no other one has chosen, so that the neighbours make a
permutation. Its cycles are the tables (a philosopher that sits alone never gets a second fork), and as long as all
philosophers do the same, a table of two and one of four look to every refinement like a table of six or like two of
three: a strategy that orders by refinement and then chooses has several representatives for some orbits, where
`canonical` has one. A philosopher that has one fork and cannot get the other puts it back. Broken, it does not.
"""

from families.common import names

PARAMETERS = ("philosophers",)
CLAIM = "SYSTEM :[deadlock free [F]]"
INDICES = ()
FIXED = False
INSTANCES = (((4,), "quick", True), ((5,), "normal", True), ((6,), "normal", True), ((7,), "normal", False), ((8,), "normal", False), ((9,), "large", False))
PUBLISHED = {}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(3,): (202, 44, 44), (4,): (2_609, 150, 150), (5,): (44_266, 490, 490), (6,): (926_287, 1_723, 1_723)}


def script(philosophers, broken, fixed):
    back = "" if broken else " [] drop.me.me -> THINKING(me, next)"
    return f"""datatype Name = {names("P", philosophers)}
channel right : Name . Name                   -- who, and the neighbour
channel begin
channel eat : Name
channel pick, drop : Name . Name              -- who, whose fork

STANDING(me) = right.me?next -> SEATED(me, next)
SEATED(me, next) = begin -> THINKING(me, next)
THINKING(me, next) =
  pick.me.me -> (pick.me.next -> eat.me -> drop.me.next -> drop.me.me -> THINKING(me, next){back})
ALONE(me) = right?p!me -> begin -> FORK(me)
FORK(me) = pick?p!me -> drop.p.me -> FORK(me)

SYSTEM =
  (([| {{begin}} |] n : Name @ STANDING(n)) [| {{| right, begin, pick, drop |}} |] ([| {{begin}} |] n : Name @ ALONE(n)))
  \\ {{| right, pick, drop |}}
"""
