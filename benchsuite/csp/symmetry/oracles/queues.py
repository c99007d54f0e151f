"""LockFreeQueue beside its specification, as plain Python.

The specification is made deterministic by sets of its states, and sets with the same future events are merged:
`Specification` has their numbers.
"""

from oracles.common import moved, nodes_threads_data, optional, permuted_point, put

IDLE = ("idle", None)
FREE = "free"


class Specification:
    """A state of a set is the contents of the queue and the stage of each client. Events are (thread, stage before,
    stage after)."""

    def __init__(self, capacity, threads, data):
        self.capacity = capacity
        stages = [(IDLE, ("puts", value)) for value in range(data)] + [(("took", value), IDLE) for value in range(data)]
        stages += [(IDLE, ("takes", None)), (("put", None), IDLE), (("missed", None), IDLE)]
        self.events = [(me, before, after) for me in range(threads) for before, after in stages]
        start = self.closure([((), (IDLE,) * threads)])
        self.steps = {}
        todo = [start]
        while todo:
            front = todo.pop()
            if front not in self.steps:
                self.steps[front] = {event: after for event in self.events if (after := self.after(front, event))}
                todo += self.steps[front].values()
        self.number = self.classes()
        self.member = {number: front for front, number in self.number.items()}
        self.start = self.number[start]

    def closure(self, front):
        """What can happen inside: an operation takes effect."""
        seen, todo = set(front), list(front)
        while todo:
            contents, clients = todo.pop()
            for me, (stage, value) in enumerate(clients):
                new = None
                if stage == "puts" and len(contents) < self.capacity:
                    new = ((*contents, value), put(clients, me, ("put", None)))
                elif stage == "takes" and contents:
                    new = (contents[1:], put(clients, me, ("took", contents[0])))
                elif stage == "takes":
                    new = (contents, put(clients, me, ("missed", None)))
                if new is not None and new not in seen:
                    seen.add(new)
                    todo.append(new)
        return frozenset(seen)

    def after(self, front, event):
        me, before, after = event
        return self.closure([(contents, put(clients, me, after)) for contents, clients in front if clients[me] == before])

    def classes(self):
        numbers, count = dict.fromkeys(self.steps, 0), 1
        while True:
            known = {}
            new = {}
            for front, steps in self.steps.items():
                signature = (numbers[front], frozenset((event, numbers[after]) for event, after in steps.items()))
                new[front] = known.setdefault(signature, len(known))
            if len(known) == count:
                return new
            numbers, count = new, len(known)

    def observed(self, number, me, before, after):
        steps = self.steps[self.member[number]]
        assert (me, before, after) in steps, "not linearisable"
        return self.number[steps[me, before, after]]


def queue(nodes, threads, data):
    values = range(data)
    specification = Specification(nodes - 1, threads, data)
    observed = specification.observed
    initial = (None, None, (FREE,) * nodes, (("idle",),) * threads, specification.start)

    def successors(state):
        head, tail, cells, points, front = state
        if head is None:
            for node in range(nodes):
                for value in values:
                    yield (node, node, put(cells, node, (value, None, frozenset(), False)), points, front)
            return
        for me, point in enumerate(points):

            def step(*point, head=head, tail=tail, cells=cells, front=front):
                return (head, tail, cells, put(points, me, point), front)

            def note(node):
                value, follower, noted, gone = cells[node]
                return put(cells, node, (value, follower, noted | {me}, gone))

            def released():
                def let_go(cell):
                    if cell == FREE:
                        return cell
                    value, follower, noted, gone = cell
                    return FREE if gone and noted <= {me} else (value, follower, noted - {me}, gone)

                return tuple(map(let_go, cells))

            what, *known = point
            if what == "idle":
                for value in values:
                    yield step("init", value, front=observed(front, me, IDLE, ("puts", value)))
                yield step("get head", front=observed(front, me, IDLE, ("takes", None)))
            elif what == "init":
                for node in range(nodes):
                    if cells[node] == FREE:
                        yield step("get tail", node, cells=put(cells, node, (known[0], None, frozenset(), False)))
            elif what == "get tail":
                yield step("tail next", *known, tail, cells=note(tail))
            elif what == "tail next":
                yield step("same tail", *known, cells[known[1]][1])
            elif what == "same tail":
                new, last, follower = known
                if tail != last:
                    yield step("enqueue again", new)
                elif follower is None:
                    yield step("cas next", new, last)
                else:
                    yield step("help", new, last, follower)
            elif what == "help":
                new, last, follower = known
                yield step("enqueue again", new, tail=follower if tail == last else tail)
            elif what == "enqueue again":
                yield step("get tail", *known, cells=released())
            elif what == "cas next":
                new, last = known
                value, follower, noted, gone = cells[last]
                if follower is None:
                    yield step("cas tail", new, last, cells=put(cells, last, (value, new, noted, gone)))
                else:
                    yield step("enqueue again", new)
            elif what == "cas tail":
                new, last = known
                yield step("enqueue done", tail=new if tail == last else tail)
            elif what == "enqueue done":
                yield step("enqueued", cells=released())
            elif what == "enqueued":
                yield step("idle", front=observed(front, me, ("put", None), IDLE))
            elif what == "get head":
                yield step("is last", head, cells=note(head))
            elif what == "is last":
                yield step("head next", *known, tail == known[0])
            elif what == "head next":
                yield step("same head", *known, cells[known[0]][1])
            elif what == "same head":
                first, last, follower = known
                if head != first:
                    yield step("dequeue again")
                elif follower is None:
                    assert last
                    yield step("empty")
                elif last:
                    yield step("help dequeue", first, follower)
                else:
                    yield step("datum", first, follower)
            elif what == "dequeue again":
                yield step("get head", cells=released())
            elif what == "empty":
                yield step("nothing", cells=released())
            elif what == "nothing":
                yield step("idle", front=observed(front, me, ("missed", None), IDLE))
            elif what == "help dequeue":
                first, follower = known
                yield step("dequeue again", tail=follower if tail == first else tail)
            elif what == "datum":
                cell = cells[known[1]]
                for value in values if cell == FREE else [cell[0]]:
                    yield step("cas head", *known, value)
            elif what == "cas head":
                first, follower, value = known
                if head == first:
                    kept, onward, noted, _ = cells[first]
                    yield step("dequeue done", value, head=follower, cells=put(cells, first, (kept, onward, noted, True)))
                else:
                    yield step("dequeue again")
            elif what == "dequeue done":
                yield step("dequeued", *known, cells=released())
            elif what == "dequeued":
                yield step("idle", front=observed(front, me, ("took", known[0]), IDLE))

    # Where a point of a thread holds nodes and where data.
    node_places = {"get tail": (0,), "enqueue again": (0,), "tail next": (0, 1), "cas next": (0, 1), "cas tail": (0, 1)}
    node_places |= {"same tail": (0, 1, 2), "help": (0, 1, 2), "is last": (0,), "head next": (0,), "same head": (0, 2)}
    node_places |= {"help dequeue": (0, 1), "datum": (0, 1), "cas head": (0, 1)}
    datum_places = {"init": (0,), "cas head": (2,), "dequeue done": (0,), "dequeued": (0,)}

    def image(node, thread, value):
        def cell(one):
            if one == FREE:
                return one
            datum, follower, noted, gone = one
            return (value[datum], optional(node, follower), frozenset(thread[name] for name in noted), gone)

        point = permuted_point(node_places, datum_places, node, value)

        def client(one):
            return (one[0], optional(value, one[1]))

        def allowed(one):
            contents, clients = one
            return (tuple(value[datum] for datum in contents), moved(tuple(map(client, clients)), thread))

        numbers = {}
        for number, front in specification.member.items():
            numbers[number] = specification.number[frozenset(map(allowed, front))]

        def apply(state):
            head, tail, cells, points, front = state
            return (
                optional(node, head),
                optional(node, tail),
                moved(tuple(map(cell, cells)), node),
                moved(tuple(map(point, points)), thread),
                numbers[front],
            )

        return apply

    return initial, successors, *nodes_threads_data(image, nodes, threads, data)
