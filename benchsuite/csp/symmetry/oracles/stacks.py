"""ListStack, as plain Python. What the specification has pushed follows from the rest."""

from oracles.common import moved, nodes_threads_data, optional, permuted_point, put


def stack(nodes, threads, data):
    """A node is None when it is free, else (datum, next); next and the top are None for Null."""
    initial = ((None,) * nodes, None, None, (("idle",),) * threads)

    def successors(state):
        cells, top, owner, points = state
        for me, point in enumerate(points):

            def step(*point, cells=cells, top=top, owner=owner):
                return (cells, top, owner, put(points, me, point))

            what, *known = point
            if what == "idle":
                for datum in range(data):
                    yield step("push lock", datum)
                yield step("pop lock")
            elif what in ("push lock", "pop lock"):
                if owner is None:
                    yield step("push top" if known else "pop top", *known, owner=me)
            elif what == "push top":
                yield step("init", *known, top)
            elif what == "init":
                for node in range(nodes):
                    if cells[node] is None:
                        yield step("set", known[0], node, cells=put(cells, node, tuple(known)))
            elif what == "set":
                yield step("push", known[0], top=known[1])
            elif what == "pop top":
                yield step("empty") if top is None else step("next", top)
            elif what == "next":
                yield step("move", *known, cells[known[0]][1])
            elif what == "move":
                yield step("datum", known[0], top=known[1])
            elif what == "datum":
                yield step("pop", *known, cells[known[0]][0])
            elif what == "pop":
                yield step("free", known[0])
            elif what == "free":
                yield step("unlock", cells=put(cells, known[0], None))
            elif what in ("push", "empty"):
                yield step("unlock")
            elif what == "unlock":
                yield step("idle", owner=None)

    # Where a point of a thread holds nodes and where data.
    node_places = {"init": (1,), "set": (1,), "next": (0,), "move": (0, 1), "datum": (0,), "pop": (0,), "free": (0,)}
    datum_places = {"push lock": (0,), "push top": (0,), "init": (0,), "set": (0,), "push": (0,), "pop": (1,)}

    def image(node, thread, value):
        def cell(one):
            return None if one is None else (value[one[0]], optional(node, one[1]))

        point = permuted_point(node_places, datum_places, node, value)

        def apply(state):
            cells, top, owner, points = state
            new = moved(tuple(map(cell, cells)), node)
            return (new, optional(node, top), optional(thread, owner), moved(tuple(map(point, points)), thread))

        return apply

    return initial, successors, *nodes_threads_data(image, nodes, threads, data)
