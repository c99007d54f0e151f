"""What the two list sets share: a sorted list of nodes, and the specification of a set (Herlihy and Shavit, "The Art of
Multiprocessor Programming", chapter 9).

Data are compared by their order, as by a hash, so that only nodes and threads are symmetric; there are as many data as
nodes. The list begins at Header, which holds nothing, and ends with Null. An operation announces its result at the
point where it takes effect, so that the specification is the sequential set. Removed nodes are reused immediately.
"""

from families.common import names


def head(nodes, threads):
    return f"""datatype NodeOrNull = Null | Header | {names("N", nodes)}
Node = diff(NodeOrNull, {{Null, Header}})
Place = diff(NodeOrNull, {{Null}})
Next = diff(NodeOrNull, {{Header}})
datatype Thread = {names("T", threads)}
Data = {{0 .. {nodes - 1}}}

datatype Operation = Add | Remove | Contains
channel begin : Thread . Operation . Data
channel add, remove, contains : Thread . Data . Bool

channel initNode : Thread . Node . Data . Next
channel getDatum : Thread . Node . Data
channel getNext, setNext : Thread . Place . Next
channel freeNode : Thread . Node
FREE(me) = initNode?t!me?d?next -> NODE(me, d, next)
NODE(me, d, next) =
  getDatum?t!me!d -> NODE(me, d, next)
  [] getNext?t!me!next -> NODE(me, d, next)
  [] setNext?t!me?new -> NODE(me, d, new)
  [] freeNode?t!me -> FREE(me)
HEADER(next) = getNext?t!Header!next -> HEADER(next) [] setNext?t!Header?new -> HEADER(new)
LIST = HEADER(Null) ||| (||| n : Node @ FREE(n))
List = {{| initNode, getDatum, getNext, setNext, freeNode |}}
"""


ACT = """
-- c is the node of x if x is `present`, else the first node after it; p is the one before.
ACT(me, Add, x, p, c, present) =
  if present then add.me.x.false -> SKIP else initNode.me?n!x!c -> setNext.me.p.n -> add.me.x.true -> SKIP
ACT(me, Remove, x, p, c, present) =
  if present then getNext.me.c?n -> setNext.me.p.n -> remove.me.x.true -> freeNode.me.c -> SKIP else remove.me.x.false -> SKIP
ACT(me, Contains, x, p, c, present) = contains.me.x.present -> SKIP
"""

SPEC = """
SPEC(s) =
  add?t?x!(not member(x, s)) -> SPEC(union(s, {x}))
  [] remove?t?x!member(x, s) -> SPEC(diff(s, {x}))
  [] contains?t?x!member(x, s) -> SPEC(s)
"""
