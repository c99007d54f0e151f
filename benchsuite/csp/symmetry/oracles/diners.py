"""DiningPhilosophers, Tables and Rings, as plain Python."""

from oracles.common import moved, put, symmetric


def at_table(permutation):
    """How names are exchanged where each has a place (what, neighbour) and a fork with a holder."""

    def place(local):
        what, neighbour = local
        return (what, None if neighbour is None else permutation[neighbour])

    def apply(state):
        locals_, forks, rest = state
        holders = tuple(None if holder is None else permutation[holder] for holder in forks)
        return (moved(tuple(map(place, locals_)), permutation), moved(holders, permutation), rest)

    return apply


def eating(me, what, neighbour, forks):
    """Steps 1 to 6 of a philosopher that has sat down: the next step and the forks, or nothing."""
    first, second = forks[me], forks[neighbour]
    if what == 1 and first is None:
        yield (2, put(forks, me, me))
    elif what == 2 and second is None:
        yield (3, put(forks, neighbour, me))
    elif what == 3:
        yield (4, forks)
    elif what == 4:
        yield (5, put(forks, neighbour, None))
    elif what == 5:
        yield (6, put(forks, me, None))


def philosophers(number):
    initial = ((("stands", None),) * number, (None,) * number, ("host", 0))

    def successors(state):
        locals_, forks, (phase, count) = state
        if phase == "host":
            if count == 0:
                for me in range(number):
                    yield (put(locals_, me, ("first", None)), forks, ("host", 1))
                return
            last = next(me for me, (what, _) in enumerate(locals_) if what == "last" or (count == 1 and what == "first"))
            if count < number:
                for me, (what, _) in enumerate(locals_):
                    if what == "stands":
                        seated = "begun" if locals_[last][0] == "first" else "seated"
                        yield (put(put(locals_, last, (seated, me)), me, ("last", None)), forks, ("host", count + 1))
            else:
                first = next(me for me, (what, _) in enumerate(locals_) if what == "begun")
                ring = put(locals_, last, ("seated", first))
                yield (tuple((0, neighbour) for _, neighbour in ring), forks, ("butler", 0))
            return
        for me, (what, neighbour) in enumerate(locals_):
            if what == 0 and count < number - 1:
                yield (put(locals_, me, (1, neighbour)), forks, ("butler", count + 1))
            elif what == 6:
                yield (put(locals_, me, (0, neighbour)), forks, ("butler", count - 1))
            else:
                for then, new in eating(me, what, neighbour, forks):
                    yield (put(locals_, me, (then, neighbour)), new, (phase, count))

    return initial, successors, [at_table(permutation) for permutation in symmetric(number)], []


def tables(number):
    initial = ((("stands", None),) * number, (None,) * number, False)

    def successors(state):
        locals_, forks, begun = state
        if not begun:
            chosen = {neighbour for _, neighbour in locals_}
            for me, (what, _) in enumerate(locals_):
                if what == "stands":
                    for other in set(range(number)) - chosen:
                        yield (put(locals_, me, ("sits", other)), forks, False)
            if None not in chosen:
                yield (tuple((1, neighbour) for _, neighbour in locals_), forks, True)
            return
        for me, (what, neighbour) in enumerate(locals_):
            if what == 2:
                yield (put(locals_, me, (1, neighbour)), put(forks, me, None), True)
            for then, new in eating(me, what, neighbour, forks):
                yield (put(locals_, me, (1 if then == 6 else then, neighbour)), new, True)

    return initial, successors, [at_table(permutation) for permutation in symmetric(number)], []


def rings(number):
    def successors(state):
        for one in range(number):
            for other in range(one):
                yield put(put(state, one, state[other]), other, state[one])

    def image(permutation):
        return lambda state: moved(tuple(permutation[following] for following in state), permutation)

    return tuple(range(number)), successors, [image(permutation) for permutation in symmetric(number)], []
