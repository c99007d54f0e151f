"""What the families share: names of values, and the assertions at the end of a script."""


def names(prefix, count):
    """The constructors of a datatype: `N0 | N1 | N2`."""
    return " | ".join(f"{prefix}{number}" for number in range(count))


def assertions(claim, indices):
    """The claim plainly, with every symmetric type, and with the types that index processes alone.

    `indices` is the list of the latter, as `:[symmetry reduce]:` wants it, or nothing when there is no type of data
    beside them.
    """
    lines = [f"assert {claim}", f"assert {claim} :[symmetry reduce]"]
    if indices:
        lines.append(f"assert {claim} :[symmetry reduce]: {', '.join(indices)}")
    return "\n".join(lines) + "\n"
