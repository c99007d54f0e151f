"""LockFreeQueue: the queue of Michael and Scott ("Simple, fast, and practical non-blocking and blocking concurrent
queue algorithms", 1996) is linearisable.

The linked list begins with a dummy node. The model is finite because nodes are reused: a thread that reads Head or Tail
is noted at the node that it finds, and a node that has left the queue is free when no thread is noted there any more,
as with hazard pointers or a garbage collector. A free node may hold anything. A thread releases all its nodes after
every round. `construct` chooses the dummy node and its datum; fixed, it is N0 with D0. The specification lets every
operation happen at a hidden event between call and return. Broken, Head is set without being compared.
"""

from families.common import names

PARAMETERS = ("nodes", "threads", "data")
CLAIM = "SPEC [T= SYSTEM"
INDICES = ("diff(NodeOrNull, {| Null |})", "Thread")
FIXED = True
INSTANCES = (
    ((3, 2, 2), "quick", True),
    ((4, 2, 2), "normal", True),
    ((5, 2, 3), "normal", False),
    ((6, 2, 2), "normal", False),
    ((7, 2, 2), "normal", False),
    ((4, 3, 3), "large", False),
    ((5, 3, 3), "large", False),
    ((6, 3, 2), "large", False),
)
PUBLISHED = {
    (4, 3, 3): ("5465M", "6654K", "39.25M"),
    (5, 2, 3): ("677.6M", "614.7K", "3643K"),
    (5, 3, 3): (None, "139.1M", "829.5M"),
    (6, 2, 2): ("1679M", "644.9K", "1290K"),
    (6, 3, 2): (None, "173.7M", "347.2M"),
    (7, 2, 2): (None, "3310K", "6619K"),
    (11, 2, 2): (None, "1412M", "2824M"),
}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2, 2, 2): (8_757, 1_109, 2_217), (3, 2, 2): (173_509, 7_331, 14_661)}


def script(nodes, threads, data, broken, fixed):
    expected = "?h'" if broken else "!h"
    if fixed:
        memory = "((HEAD(N0) ||| TAIL(N0)) [| Noted |] ([| {| release |} |] n : Node @ if n == N0 then NODE(n, D0, Null, {}, false) else FREE(n)))"
        threads_ = "(||| t : Thread @ THREAD(t))"
    else:
        memory = "((construct?n?d -> HEAD(n) [| {| construct |} |] construct?n?d -> TAIL(n)) [| Noted |] ([| {| release |} |] n : Node @ FREE(n)))"
        threads_ = "([| {| construct |} |] t : Thread @ construct?n?d -> THREAD(t))"
    return f"""datatype NodeOrNull = Null | {names("N", nodes)}
Node = diff(NodeOrNull, {{Null}})
datatype Data = {names("D", data)}
datatype Thread = {names("T", threads)}

channel enqueue, dequeued : Thread . Data        -- enqueue is called; dequeue returns
channel enqueued, dequeue, empty' : Thread       -- enqueue returns; dequeue is called; dequeue returns nothing

channel construct : Node . Data
channel getHead, getTail : Thread . Node
channel sameHead, sameTail : Thread . Node . Bool          -- is it still this one?
channel casHead, casTail : Thread . Node . Node . Bool     -- expected, new, success
channel initNode, getDatum : Thread . Node . Data
channel getNext : Thread . Node . NodeOrNull
channel casNext : Thread . Node . Node . Bool              -- whose successor, new, success; nothing is expected
channel release : Thread
Shared =
  {{| construct, getHead, getTail, sameHead, sameTail, casHead, casTail, initNode, getDatum, getNext, casNext, release |}}

HEAD(h) =
  getHead?t!h -> HEAD(h)
  [] sameHead?t?n!(n == h) -> HEAD(h)
  [] casHead?t{expected}?n!true -> HEAD(n)
  [] casHead?t?m:{"{}" if broken else "diff(Node, {h})"}?n!false -> HEAD(h)
TAIL(l) =
  getTail?t!l -> TAIL(l)
  [] sameTail?t?n!(n == l) -> TAIL(l)
  [] casTail?t!l?n!true -> TAIL(n)
  [] casTail?t?m:diff(Node, {{l}})?n!false -> TAIL(l)

FREE(me) =
  initNode?t!me?d -> NODE(me, d, Null, {{}}, false)
  [] construct.me?d -> NODE(me, d, Null, {{}}, false)
  [] getDatum?t!me?d -> FREE(me)
  [] release?t -> FREE(me)
NODE(me, d, next, noted, gone) =
  getDatum?t!me!d -> NODE(me, d, next, noted, gone)
  [] getNext?t!me!next -> NODE(me, d, next, noted, gone)
  [] (if next == Null then casNext?t!me?n!true -> NODE(me, d, n, noted, gone)
      else casNext?t!me?n!false -> NODE(me, d, next, noted, gone))
  [] getHead?t!me -> NODE(me, d, next, union(noted, {{t}}), gone)
  [] getTail?t!me -> NODE(me, d, next, union(noted, {{t}}), gone)
  [] casHead?t!me?n!true -> NODE(me, d, next, noted, true)
  [] release?t -> (let left = diff(noted, {{t}}) within if gone and empty(left) then FREE(me) else NODE(me, d, next, left, gone))
Noted = Union({{{{| construct, getHead, getTail |}}, {{casHead.t.m.n.true | t <- Thread, m <- Node, n <- Node}}}})
MEMORY =
  {memory}

THREAD(me) =
  enqueue.me?d -> initNode.me?n!d -> ENQUEUE(me, n)
  [] dequeue.me -> DEQUEUE(me)
ENQUEUE(me, new) =
  getTail.me?l -> getNext.me.l?n -> sameTail.me.l?same ->
  if not same then release.me -> ENQUEUE(me, new)
  else if n == Null then
    casNext.me.l.new?ok ->
    (if ok then casTail.me.l.new?moved -> release.me -> enqueued.me -> THREAD(me) else release.me -> ENQUEUE(me, new))
  else casTail.me.l.n?moved -> release.me -> ENQUEUE(me, new)
DEQUEUE(me) =
  getHead.me?h -> sameTail.me.h?last -> getNext.me.h?n -> sameHead.me.h?same ->
  if not same then release.me -> DEQUEUE(me)
  else if n == Null then last & release.me -> empty'.me -> THREAD(me)
  else if last then casTail.me.h.n?moved -> release.me -> DEQUEUE(me)
  else
    getDatum.me.n?d -> casHead.me.h.n?ok ->
    if ok then release.me -> dequeued.me.d -> THREAD(me) else release.me -> DEQUEUE(me)

SYSTEM = ({threads_} [| Shared |] MEMORY) \\ Shared

-- Each operation happens at once, sometime between its call and its return.
channel put, take : Thread . Data
channel nothing : Thread
CLIENT(me) =
  enqueue.me?d -> put.me.d -> enqueued.me -> CLIENT(me)
  [] dequeue.me -> (take.me?d -> dequeued.me.d -> CLIENT(me) [] nothing.me -> empty'.me -> CLIENT(me))
CONTENTS(s) =
  #s < card(Node) - 1 & put?t?d -> CONTENTS(s ^ <d>)
  [] (if null(s) then nothing?t -> CONTENTS(s) else take?t!head(s) -> CONTENTS(tail(s)))
SPEC = ((||| t : Thread @ CLIENT(t)) [| {{| put, take, nothing |}} |] CONTENTS(<>)) \\ {{| put, take, nothing |}}
"""
