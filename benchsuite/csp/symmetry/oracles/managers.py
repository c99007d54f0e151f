"""Database, as plain Python."""

from oracles.common import moved, put, symmetric


def database(managers):
    everybody = range(managers)
    idle = (None, ())

    def successors(state):
        sender, stages = state
        if sender is None:
            for one in everybody:
                yield (one, tuple("waits" if other == one else "sent" for other in everybody))
            return
        for one, stage in enumerate(stages):
            if stage in ("sent", "received"):
                yield (sender, put(stages, one, "received" if stage == "sent" else "done"))
        if all(stage in ("waits", "done") for stage in stages):
            yield idle

    def image(permutation):
        return lambda state: state if state[0] is None else (permutation[state[0]], moved(state[1], permutation))

    return idle, successors, [image(permutation) for permutation in symmetric(managers)], []
