"""CoarseGrainedListSet and FineGrainedListSet, as plain Python.

A place is a number of a node, HEADER or None for Null. After a result is announced, a thread has a silent step before
it releases its locks and one after it, which is how `;` works; that is the point `over` and the end of the tuple of
steps that are left.
"""

from oracles.common import moved, put, symmetric

HEADER = "header"


def list_set(nodes, threads, fine):
    """The specification's state is what the events so far have put into the set, and follows from the rest."""
    operations = ("add", "remove", "contains")
    initial = ((None,) * nodes, None, None if not fine else (False,) * (nodes + 1), (("idle",),) * threads)

    def successors(state):
        cells, header, locks, points = state

        def index(place):
            return nodes if place == HEADER else place

        for me, point in enumerate(points):

            def step(*point, cells=cells, header=header, locks=locks):
                return (cells, header, locks, put(points, me, point))

            def search(operation, x, p, c):
                """The point where a thread goes on that has reached c after p."""
                if c is None:
                    return act(operation, x, p, c, False)
                if fine:
                    return ("lock", operation, x, p, c)
                return ("datum", operation, x, None if operation == "contains" else p, c)

            def act(operation, x, p, c, present):
                held = (c, p) if fine and c is not None else (p,) if fine else ()
                if operation == "add" and not present:
                    return ("init", x, p, c, held)
                if operation == "remove" and present:
                    return ("after", x, p, c, held)
                return ("tell", operation, x, present, held)

            def follower(place):
                return header if place == HEADER else cells[place][1]

            def linked(place, new):
                if place == HEADER:
                    return {"header": new}
                return {"cells": put(cells, place, (cells[place][0], new))}

            what, *known = point
            if what == "idle":
                for operation in operations:
                    for x in range(nodes):
                        yield step("begin", operation, x)
            elif what == "begin":
                if fine:
                    if not locks[nodes]:
                        yield step("first", *known, locks=put(locks, nodes, True))
                elif locks is None:
                    yield step("first", *known, locks=me)
            elif what == "first":
                yield step(*search(*known, HEADER, header))
            elif what == "lock":
                if not locks[known[3]]:
                    yield step("datum", *known, locks=put(locks, known[3], True))
            elif what == "datum":
                operation, x, p, c = known
                if cells[c] is None:
                    continue
                datum = cells[c][0]
                if datum >= x:
                    yield step(*act(operation, x, p, c, datum == x))
                elif fine:
                    yield step("leave", operation, x, p, c)
                else:
                    yield step("next", operation, x, c)
            elif what == "leave":
                operation, x, p, c = known
                yield step("next", operation, x, c, locks=put(locks, index(p), False))
            elif what == "next":
                operation, x, c = known
                yield step(*search(operation, x, c, cells[c][1]))
            elif what == "init":
                x, p, c, held = known
                for node in range(nodes):
                    if cells[node] is None:
                        yield step("link", x, p, node, held, cells=put(cells, node, (x, c)))
            elif what == "link":
                x, p, node, held = known
                yield step("tell", "add", x, None, held, **linked(p, node))
            elif what == "after":
                x, p, c, held = known
                yield step("unlink", x, p, c, cells[c][1], held)
            elif what == "unlink":
                x, p, c, node, held = known
                yield step("told", x, c, held, **linked(p, node))
            elif what == "told":
                yield step("free", *known[1:])
            elif what == "free":
                c, held = known
                yield step("over", held, cells=put(cells, c, None))
            elif what == "tell":
                yield step("over", known[-1])
            elif what == "over":
                yield step("unlock", *known)
            elif what == "unlock":
                held = known[0]
                if not fine:
                    yield step("end", locks=None)
                else:
                    rest = held[1:]
                    yield step(*(("unlock", rest) if rest else ("end",)), locks=put(locks, index(held[0]), False))
            elif what == "end":
                yield step("idle")

    def image(node, thread):
        names = {HEADER: HEADER, None: None} | dict(enumerate(node))

        def cell(one):
            return None if one is None else (one[0], names[one[1]])

        places = {"lock": (3, 4), "datum": (3, 4), "leave": (3, 4), "next": (3,), "init": (2, 3), "link": (2, 3), "after": (2, 3), "unlink": (2, 3, 4), "told": (2,), "free": (1,)}
        holding = ("init", "link", "after", "unlink", "told", "free", "tell", "over", "unlock")

        def point(one):
            new = list(one)
            for place in places.get(one[0], ()):
                new[place] = names[new[place]]
            if one[0] in holding:
                new[-1] = tuple(names[place] for place in new[-1])
            return tuple(new)

        def apply(state):
            cells, header, locks, points = state
            if fine:
                locks = (*moved(locks[:nodes], node), locks[nodes])
            elif locks is not None:
                locks = thread[locks]
            return (moved(tuple(map(cell, cells)), node), names[header], locks, moved(tuple(map(point, points)), thread))

        return apply

    same = list(range(nodes)), list(range(threads))
    generators = [image(permutation, same[1]) for permutation in symmetric(nodes)]
    return initial, successors, generators + [image(same[0], permutation) for permutation in symmetric(threads)], []


def coarse(nodes, threads):
    return list_set(nodes, threads, False)


def fine(nodes, threads):
    return list_set(nodes, threads, True)
