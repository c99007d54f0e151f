"""TreeBroadcast, as plain Python."""

from oracles.common import moved, symmetric


def broadcast(nodes, data):
    """Node 0 is the sender. A local state is (what, parent, children, datum, rest, waiting)."""
    others = frozenset(range(1, nodes + 1))
    none = frozenset()
    outside = ("outside", None, none, None, none, none)
    initial = (("grows", 0, none, None, others, none), *(outside for _ in others))

    def tidy(local):
        what, parent, children, datum, rest, waiting = local
        if what == "grows" and not rest:
            what = "idle"
        if what == "busy" and not rest:
            datum = None
            if not waiting:
                what = "ready"
        return (what, parent, children, datum, rest, waiting)

    def successors(state):
        def after(*changes):
            new = list(state)
            for node, local in changes:
                new[node] = tidy(local)
            return tuple(new)

        for me, (what, parent, children, datum, rest, waiting) in enumerate(state):
            if what == "grows":
                for node in rest:
                    joins = state[node][0] == "outside"
                    mine = (me, (what, parent, children | {node} if joins else children, None, rest - {node}, none))
                    yield after(mine, (node, ("grows", me, none, None, others - {node, me}, none))) if joins else after(mine)
            elif what == "idle" and me == 0:
                for value in range(data):
                    yield after((me, ("busy", parent, children, value, children, none)))
            elif what == "receives":
                yield after((me, ("busy", parent, children, datum, children, none)))
            elif what == "busy":
                for node in rest:
                    if state[node][0] == "idle":
                        theirs = ("receives", me, state[node][2], datum, none, none)
                        yield after((me, (what, parent, children, datum, rest - {node}, waiting | {node})), (node, theirs))
            elif what == "ready":
                idle = (me, ("idle", parent, children, None, none, none))
                if me == 0:
                    yield after(idle)
                else:
                    above = state[parent]
                    yield after(idle, (parent, (*above[:5], above[5] - {me})))

    def image(node, value):
        def rename(names):
            return frozenset(node[name] for name in names)

        def place(local):
            what, parent, children, datum, rest, waiting = local
            parent = None if parent is None else node[parent]
            return (what, parent, rename(children), None if datum is None else value[datum], rename(rest), rename(waiting))

        return lambda state: moved(tuple(map(place, state)), node)

    same_nodes, same_data = list(range(nodes + 1)), list(range(data))
    generators = [image([0, *(name + 1 for name in permutation)], same_data) for permutation in symmetric(nodes)]
    return initial, successors, generators, [image(same_nodes, permutation) for permutation in symmetric(data)]
