"""ArrayQueue: a bounded queue in an array without locks (Shann, Huang and Chen, 2000, as corrected by Colvin and
Groves, "Formal verification of an array-based nonblocking queue", 2005) is linearisable.

Front and Rear are positions in an array of two cells, each with a tag, and each cell has a tag with its datum; a
compare and swap replaces the tag as well, so that no thread takes a value for one that it saw before. In the algorithm
tags are counted. Here a new tag is any tag that no other thread remembers, so that the types of the tags are symmetric,
as are threads and data, and few tags are enough: two for each thread are shared by Front and Rear, one for each thread
by a cell. Positions run around the array twice, so that full and empty differ. A thread forgets all tags after every
round. The first tags are chosen by `construct`. Broken, any tag may be the new one, and threads mistake new values for
old ones.
"""

from families.common import names

PARAMETERS = ("threads", "data", "references", "versions")
CLAIM = "SPEC [T= SYSTEM"
INDICES = ("Thread",)
FIXED = False
INSTANCES = (((2, 2, 2, 2), "quick", True), ((2, 2, 3, 2), "normal", True), ((2, 2, 4, 2), "normal", False), ((3, 2, 6, 3), "large", False))
PUBLISHED = {(2, 2, 4, 2): ("8675K", "82.68K", "4349K"), (3, 2, 6, 3): (None, "102.3M", None)}
ORBITS = {}


def script(threads, data, references, versions, broken, fixed):
    unseen = "Thread" if broken else "{t | t <- Thread, empty(diff(noted, {t}))}"
    stale = "{}" if broken else "{w | (u, w) <- noted, u != t}"
    return f"""datatype Thread = {names("T", threads)}
datatype DataOrNone = None | {names("D", data)}
Data = diff(DataOrNone, {{None}})
datatype Reference = {names("R", references)}      -- tags of Front and Rear
datatype Version = {names("V", versions)}        -- tags of cells
L = 2
Cell = {{0 .. L - 1}}
Position = {{0 .. 2 * L - 1}}
next(p) = (p + 1) % (2 * L)
cell(p) = p % L
distance(p, q) = (q + 2 * L - p) % (2 * L)

channel enqueue, dequeued : Thread . Data                  -- enqueue is called; dequeue returns
channel enqueued, full, dequeue, empty' : Thread           -- enqueue returns; dequeue is called; dequeue returns nothing

datatype End = Front | Rear
channel construct : Reference . Reference . Version
channel get : Thread . End . Position . Reference
channel same : Thread . End . Position . Reference . Bool  -- is it still this one?
channel move : Thread . End . Position . Reference . Reference
channel miss : Thread . End . Position . Reference         -- a compare and swap that does not succeed
channel read : Thread . Cell . DataOrNone . Version
channel used : Thread . Cell . Bool                        -- is there a datum?
channel swap : Thread . Cell . DataOrNone . Version . DataOrNone . Version
channel lose : Thread . Cell . DataOrNone . Version
channel forget : Thread
Shared = {{| construct, get, same, move, miss, read, used, swap, lose, forget |}}

END(e, p, r) =
  get?t!e!p!r -> END(e, p, r)
  [] same?t!e?q?s!(q == p and s == r) -> END(e, p, r)
  [] move?t!e!p!r?new -> END(e, next(p), new)
  [] miss?t!e?q?s:{{s | s <- Reference, q != p or s != r}} -> END(e, p, r)

-- A tag knows whether it is in use, and who has seen it.
TAG(me, current, noted) =
  let unseen = {unseen}   -- by anybody else
  within
    get?t?e?p!me -> TAG(me, current, union(noted, {{t}}))
    [] forget?t -> TAG(me, current, diff(noted, {{t}}))
    [] (if current then
          move?t?e?p!me?new:diff(Reference, {{me}}) -> TAG(me, false, noted)
          [] move?t:unseen?e?p!me!me -> TAG(me, true, noted)
        else
          move?t:unseen?e?p?old:diff(Reference, {{me}})!me -> TAG(me, true, noted))
NEW(me) =
  construct.me?s:diff(Reference, {{me}})?v -> TAG(me, true, {{}})
  [] construct?r:diff(Reference, {{me}})!me?v -> TAG(me, true, {{}})
  [] construct?r:diff(Reference, {{me}})?s:diff(Reference, {{me, r}})?v -> TAG(me, false, {{}})

-- A cell knows who has seen which of its tags.
CELL(i, d, v, noted) =
  read?t!i!d!v -> CELL(i, d, v, union(noted, {{(t, v)}}))
  [] used?t!i!(d != None) -> CELL(i, d, v, noted)
  [] swap?t!i!d!v?d':(if d == None then Data else {{None}})?w:diff(Version, {stale}) -> CELL(i, d', w, noted)
  [] lose?t!i?x?w:{{w | w <- Version, x != d or w != v}} -> CELL(i, d, v, noted)
  [] forget?t -> CELL(i, d, v, {{(u, w) | (u, w) <- noted, u != t}})

ENDS = (construct?r?s?v -> END(Front, 0, r)) [| {{| construct |}} |] (construct?r?s?v -> END(Rear, 0, s))
Mine(r) =
  Union({{
    {{| construct, forget |}},
    {{get.t.e.p.r | t <- Thread, e <- End, p <- Position}},
    {{move.t.e.p.r.s, move.t.e.p.s.r | t <- Thread, e <- End, p <- Position, s <- Reference}}}})
TAGS = || r : Reference @ [Mine(r)] NEW(r)
CELLS = [| {{| construct, forget |}} |] i : Cell @ construct?r?s?v -> CELL(i, None, v, {{}})
MEMORY = (ENDS [| {{| construct, get, move |}} |] TAGS) [| {{| construct, forget |}} |] CELLS

CAS(me, e, p, r, P) = move.me.e.p.r?new -> P [] miss.me.e.p.r -> P
THREAD(me) = enqueue.me?x -> ENQUEUE(me, x) [] dequeue.me -> DEQUEUE(me)
ENQUEUE(me, x) =
  let AGAIN = forget.me -> ENQUEUE(me, x)
  within
    get.me.Rear?p?r -> get.me.Front?q?f -> read.me.cell(p)?d?v -> same.me.Rear.p.r?ok ->
    if not ok then AGAIN
    else if distance(q, p) == L then
      used.me.cell(q)?u ->
      (if u then same.me.Front.q.f?still -> (if still then forget.me -> full.me -> THREAD(me) else AGAIN)
       else CAS(me, Front, q, f, AGAIN))
    else if d == None then
      swap.me.cell(p).d.v.x?w -> CAS(me, Rear, p, r, forget.me -> enqueued.me -> THREAD(me))
      [] lose.me.cell(p).d.v -> AGAIN
    else CAS(me, Rear, p, r, AGAIN)
DEQUEUE(me) =
  let AGAIN = forget.me -> DEQUEUE(me)
  within
    get.me.Front?q?f -> get.me.Rear?p?r -> read.me.cell(q)?d?v -> same.me.Front.q.f?ok ->
    if not ok then AGAIN
    else if p == q then
      used.me.cell(p)?u ->
      (if u then CAS(me, Rear, p, r, AGAIN)
       else same.me.Rear.p.r?still -> (if still then forget.me -> empty'.me -> THREAD(me) else AGAIN))
    else if d == None then CAS(me, Front, q, f, AGAIN)
    else
      swap.me.cell(q).d.v.None?w -> CAS(me, Front, q, f, forget.me -> dequeued.me.d -> THREAD(me))
      [] lose.me.cell(q).d.v -> AGAIN

SYSTEM = (([| {{| construct |}} |] t : Thread @ construct?r?s?v -> THREAD(t)) [| Shared |] MEMORY) \\ Shared

-- Each operation happens at once, sometime between its call and its return.
channel put, take : Thread . Data
channel nospace, nothing : Thread
Effects = {{| put, take, nospace, nothing |}}
CLIENT(me) =
  enqueue.me?d -> (put.me.d -> enqueued.me -> CLIENT(me) [] nospace.me -> full.me -> CLIENT(me))
  [] dequeue.me -> (take.me?d -> dequeued.me.d -> CLIENT(me) [] nothing.me -> empty'.me -> CLIENT(me))
CONTENTS(s) =
  (if #s < L then put?t?d -> CONTENTS(s ^ <d>) else nospace?t -> CONTENTS(s))
  [] (if null(s) then nothing?t -> CONTENTS(s) else take?t!head(s) -> CONTENTS(tail(s)))
SPEC = ((||| t : Thread @ CLIENT(t)) [| Effects |] CONTENTS(<>)) \\ Effects
"""
