"""Database: managers of copies of a database, which update it one at a time (Jensen's example for coloured Petri nets;
named in Gibson-Robinson and Lowe, 2019, section 8).

A manager updates its copy and sends a message to each of the others; each of them receives it, performs the update and
acknowledges; when all have, the first one continues. These are n 3^(n - 1) + 1 states and, since only the numbers of
managers in each stage matter, n (n + 1) / 2 + 1 orbits. Broken, a manager continues although another one has not
received the message.
"""

from families.common import names

PARAMETERS = ("managers",)
CLAIM = "SPEC [T= SYSTEM"
INDICES = ()
FIXED = False
INSTANCES = (((8,), "quick", True), ((12,), "normal", True), ((16,), "normal", False))
PUBLISHED = {(16,): ("229.6M", "106", None)}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(3,): (28, 7, 7), (4,): (109, 11, 11), (8,): (17_497, 37, 37)}


def script(managers, broken, fixed):
    careless = " [] finish.s -> INACTIVE(me)" if broken else ""
    return f"""N = {managers}
datatype Manager = {names("M", managers)}
channel update, finish : Manager
channel receive, acknowledge : Manager . Manager     -- whose update, by whom

INACTIVE(me) = update.me -> WAITING(me) [] update?s:diff(Manager, {{me}}) -> SENT(me, s)
WAITING(me) = finish.me -> INACTIVE(me)
SENT(me, s) = receive.s.me -> acknowledge.s.me -> DONE(me, s){careless}
DONE(me, s) = finish.s -> INACTIVE(me)

SYSTEM =
  (|| m : Manager @ [union({{| update, finish |}}, {{receive.s.m, acknowledge.s.m | s <- Manager}})] INACTIVE(m))
  \\ {{| receive |}}

-- One update at a time, finished when all the others have acknowledged it.
SPEC = update?s -> BUSY(s, N - 1)
BUSY(s, k) = if k == 0 then finish.s -> SPEC else acknowledge.s?m -> BUSY(s, k - 1)
"""
