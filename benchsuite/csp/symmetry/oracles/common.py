"""What the oracles share: finding all states, putting them together into orbits, and permutations."""


def explore(initial, successors):
    """All states that can be reached."""
    seen = {initial}
    todo = [initial]
    while todo:
        for state in successors(todo.pop()):
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return seen


def orbits(states, generators):
    """The number of orbits; every generator must keep the set of states."""
    left = set(states)
    count = 0
    while left:
        count += 1
        todo = [left.pop()]
        while todo:
            state = todo.pop()
            for generator in generators:
                image = generator(state)
                assert image in states, (state, image)
                if image in left:
                    left.remove(image)
                    todo.append(image)
    return count


def symmetric(size):
    """Generators of all permutations of 0 .. size - 1."""
    if size < 2:
        return []
    swap = [1, 0, *range(2, size)]
    turn = [(number + 1) % size for number in range(size)]
    return [swap, turn]


def moved(values, permutation):
    """What belongs to i belongs to its image."""
    result = [None] * len(values)
    for number, value in enumerate(values):
        result[permutation[number]] = value
    return tuple(result)


def put(values, place, value):
    return (*values[:place], value, *values[place + 1 :])
