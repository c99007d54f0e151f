"""Peterson: mutual exclusion for n processes (Peterson, "Myths about the mutual exclusion problem", 1981; named in
Gibson-Robinson and Lowe, 2019, section 8).

A process climbs n - 1 levels. It waits on a level until all others are below it, or until another process came to this
level after it. Both are checked in one step, as in Bošnački, Dams and Holenderski, "Symmetric Spin", 2002. Levels are
numbers; only processes are symmetric. Broken, a process writes the turn before the flag.
"""

from families.common import names

PARAMETERS = ("processes",)
CLAIM = "MUTEX [T= SYSTEM"
INDICES = ()
FIXED = False
INSTANCES = (((4,), "quick", True), ((5,), "normal", True), ((6,), "normal", True), ((7,), "normal", False), ((8,), "large", False))
PUBLISHED = {(6,): ("122.2M", "251.4K", None), (7,): ("13580M", "4343K", None)}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2,): (36, 19, 19), (3,): (620, 121, 121), (4,): (12_412, 652, 652), (5,): (280_302, 3_176, 3_176)}


def script(processes, broken, fixed):
    writes = "setTurn.j.me -> setFlag.me.j" if broken else "setFlag.me.j -> setTurn.j.me"
    return f"""N = {processes}
datatype ProcessOrNobody = Nobody | {names("P", processes)}
Process = diff(ProcessOrNobody, {{Nobody}})
Level = {{1 .. N - 1}}

channel setFlag : Process . {{0 .. N - 1}}
channel setTurn, overtaken : Level . Process     -- overtaken: the turn is another one's
channel alone : Process . Level                  -- all others are below this level
channel enter, leave : Process

FLAG(p, level) =
  setFlag.p?new -> FLAG(p, new)
  [] alone?q:diff(Process, {{p}})?j:{{level + 1 .. N - 1}} -> FLAG(p, level)
TURN(j, p) =
  setTurn.j?new -> TURN(j, new)
  [] overtaken.j?q:diff(Process, {{p}}) -> TURN(j, p)

PROCESS(me) = CLIMB(me, 1)
CLIMB(me, j) =
  if j == N then enter.me -> leave.me -> setFlag.me.0 -> PROCESS(me)
  else {writes} -> (alone.me.j -> CLIMB(me, j + 1) [] overtaken.j.me -> CLIMB(me, j + 1))

FLAGS = || p : Process @ [union({{| setFlag.p |}}, {{| alone.q | q <- diff(Process, {{p}}) |}})] FLAG(p, 0)
SYSTEM =
  ((||| p : Process @ PROCESS(p)) [| {{| setFlag, setTurn, overtaken, alone |}} |] (FLAGS ||| (||| j : Level @ TURN(j, Nobody))))
  \\ {{| setFlag, setTurn, overtaken, alone |}}

MUTEX = enter?p -> leave.p -> MUTEX
"""
