"""Rings: stations on rings that split and join. Not one of the published families: it shows where `canonical` has fewer
states than `ordering`.

Every station knows its successor, at first itself. Two stations may exchange their successors, which joins two rings or
splits one, so that the successors are always a permutation, and every permutation is reached. Orbits are types of
cycles, n! states and as many orbits as there are partitions of n. Refinement of colours distinguishes only the fixed
points of a permutation; a strategy that chooses after it has several representatives for most of the types. Broken, one
of the two keeps its successor, and two stations have the same.
"""

from families.common import names

PARAMETERS = ("stations",)
CLAIM = "RUN({| exchange |}) [T= SYSTEM"
INDICES = ()
FIXED = False
INSTANCES = (((5,), "quick", True), ((7,), "normal", True), ((8,), "normal", True), ((9,), "normal", False))
PUBLISHED = {}
# States, orbits, and orbits without exchanging data: factorials and partitions, and by brute force (`orbits`).
ORBITS = {(4,): (24, 5, 5), (5,): (120, 7, 7), (6,): (720, 11, 11), (7,): (5_040, 15, 15), (8,): (40_320, 22, 22), (9,): (362_880, 30, 30)}


def script(stations, broken, fixed):
    second = "next" if broken else "x"
    return f"""datatype Name = {names("S", stations)}
channel exchange : Name . Name . Name . Name      -- two stations, and the successors that they have before
channel clash : Name . Name . Name                -- two stations with the same successor
others(me) = diff(Name, {{me}})

STATION(me, next) =
  exchange.me?q:others(me)!next?y -> STATION(me, y)
  [] exchange?p:others(me)!me?x!next -> STATION(me, {second})
  [] clash.me?q:others(me)!next -> STOP
  [] clash?p:others(me)!me!next -> STOP

Alphabet(me) = union({{| exchange.me, clash.me |}}, {{| exchange.p.me, clash.p.me | p <- Name |}})
SYSTEM = || n : Name @ [Alphabet(n)] STATION(n, n)
"""
