"""TreeBroadcast: nodes grow a spanning tree from a distinguished sender and then broadcast along it (named in
Gibson-Robinson and Lowe, 2019, section 8).

Every node of the tree invites every other one; a node becomes a child of the node that invites it first, and refuses
all later invitations. A node that has invited all others waits for a message of its parent, delivers it, passes it on
to its children and acknowledges it when all of them have. The sender takes the next message when the last one is
acknowledged. Nodes are symmetric except for the sender, and hold sets of nodes. Broken, a node accepts all invitations:
all but its first parent wait for it without end.
"""

from families.common import names

PARAMETERS = ("nodes", "data")
CLAIM = "SPEC [FD= SYSTEM"
INDICES = ("diff(NodeOrSender, {| Sender |})",)
FIXED = False
INSTANCES = (((3, 2), "quick", True), ((4, 2), "normal", True), ((5, 2), "normal", False), ((6, 2), "large", False))
PUBLISHED = {(5, 2): ("303.0M", "4362K", "4508K"), (6, 2): (None, "3547M", "3595M")}
# States, orbits, and orbits without exchanging data, by brute force (`orbits`).
ORBITS = {(2, 2): (79, 29, 45), (3, 2): (2_447, 281, 463), (4, 2): (323_871, 9_647, 14_385)}


def script(nodes, data, broken, fixed):
    joins = "true" if broken else "false"
    return f"""datatype NodeOrSender = Sender | {names("N", nodes)}
Node = diff(NodeOrSender, {{Sender}})
datatype Data = {names("D", data)}

channel invite : NodeOrSender . NodeOrSender . Bool   -- who, whom, and whether it becomes a child
channel pass : NodeOrSender . NodeOrSender . Data     -- parent, child, message
channel acknowledge : NodeOrSender . NodeOrSender     -- child, parent
channel send : Data
channel receive : NodeOrSender . Data
channel done

-- A node of the tree can be invited at any time, in vain.
REFUSED(me, P) = invite?p:diff(NodeOrSender, {{me}})!me!{joins} -> P

OUTSIDE(me) = invite?parent:diff(NodeOrSender, {{me}})!me!true -> GROWING(me, parent, diff(Node, {{me, parent}}), {{}})
GROWING(me, parent, rest, children) =
  if empty(rest) then IDLE(me, parent, children)
  else
    ([] n : rest @ invite.me.n?joined -> GROWING(me, parent, diff(rest, {{n}}), if joined then union(children, {{n}}) else children))
    [] REFUSED(me, GROWING(me, parent, rest, children))
IDLE(me, parent, children) =
  (if me == Sender then send?d -> BUSY(me, parent, children, d, children, {{}})
   else pass.parent.me?d -> DELIVER(me, parent, children, d))
  [] REFUSED(me, IDLE(me, parent, children))
DELIVER(me, parent, children, d) =
  receive.me.d -> BUSY(me, parent, children, d, children, {{}})
  [] REFUSED(me, DELIVER(me, parent, children, d))
-- `rest` are the children that have not got the message yet, `waiting` those that have not acknowledged it.
BUSY(me, parent, children, d, rest, waiting) =
  if empty(rest) and empty(waiting) then FINISH(me, parent, children)
  else
    ([] n : rest @ pass.me.n.d -> BUSY(me, parent, children, d, diff(rest, {{n}}), union(waiting, {{n}})))
    [] ([] n : waiting @ acknowledge.n.me -> BUSY(me, parent, children, d, rest, diff(waiting, {{n}})))
    [] REFUSED(me, BUSY(me, parent, children, d, rest, waiting))
FINISH(me, parent, children) =
  (if me == Sender then done -> IDLE(me, parent, children) else acknowledge.me.parent -> IDLE(me, parent, children))
  [] REFUSED(me, FINISH(me, parent, children))

Alphabet(me) =
  Union({{
    {{| invite.me, pass.me, acknowledge.me, receive.me |}},
    {{| invite.n.me, pass.n.me, acknowledge.n.me | n <- NodeOrSender |}},
    (if me == Sender then {{| send, done |}} else {{}})}})
SYSTEM =
  (|| n : NodeOrSender @ [Alphabet(n)] (if n == Sender then GROWING(n, n, Node, {{}}) else OUTSIDE(n)))
  \\ {{| invite, pass, acknowledge |}}

-- Every message reaches everybody, in some order, before the next one is taken.
SPEC = send?d -> DELIVERED(d, Node)
DELIVERED(d, rest) = if empty(rest) then done -> SPEC else |~| n : rest @ receive.n.d -> DELIVERED(d, diff(rest, {{n}}))
"""
