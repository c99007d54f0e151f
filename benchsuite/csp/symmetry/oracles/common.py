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


def optional(names, name):
    """The image of a name, or of nothing."""
    return None if name is None else names[name]


def permuted_point(node_places, datum_places, node, value):
    """What becomes of the point that a thread is at: a word, and nodes and data at the places that the word tells."""

    def point(one):
        what, *known = one
        for place in node_places.get(what, ()):
            known[place] = optional(node, known[place])
        for place in datum_places.get(what, ()):
            known[place] = value[known[place]]
        return (what, *known)

    return point


def nodes_threads_data(image, nodes, threads, data):
    """Generators of all permutations of nodes and of threads; and those of data. `image` makes one of a permutation of
    each."""
    same = [list(range(size)) for size in (nodes, threads, data)]
    generators = [image(permutation, same[1], same[2]) for permutation in symmetric(nodes)]
    generators += [image(same[0], permutation, same[2]) for permutation in symmetric(threads)]
    return generators, [image(same[0], same[1], permutation) for permutation in symmetric(data)]
