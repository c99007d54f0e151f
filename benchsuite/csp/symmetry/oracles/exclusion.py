"""Peterson, as plain Python."""

from oracles.common import moved, put, symmetric


def peterson(processes):
    everybody = range(processes)
    initial = ((("flag", 1),) * processes, (0,) * processes, (None,) * (processes - 1))

    def successors(state):
        points, flags, turns = state
        for me, (point, level) in enumerate(points):
            after = (("enter", 0) if level + 1 == processes else ("flag", level + 1)) if point == "wait" else None
            if point == "flag":
                yield (put(points, me, ("turn", level)), put(flags, me, level), turns)
            elif point == "turn":
                yield (put(points, me, ("wait", level)), flags, put(turns, level - 1, me))
            elif point == "wait":
                alone = all(flags[other] < level for other in everybody if other != me)
                if alone or turns[level - 1] != me:
                    yield (put(points, me, after), flags, turns)
            elif point == "enter":
                yield (put(points, me, ("leave", 0)), flags, turns)
            elif point == "leave":
                yield (put(points, me, ("reset", 0)), flags, turns)
            else:
                yield (put(points, me, ("flag", 1)), put(flags, me, 0), turns)

    def image(permutation):
        def apply(state):
            points, flags, turns = state
            new = tuple(None if turn is None else permutation[turn] for turn in turns)
            return (moved(points, permutation), moved(flags, permutation), new)

        return apply

    return initial, successors, [image(permutation) for permutation in symmetric(processes)], []
