//! The codes of what this stage reports.

crate::code_table::code_table! { pub
    UNKNOWN_NAME = "M101", "a name that is not declared", "map f: Nat; eqn f = g;";
    UNKNOWN_SORT = "M102", "a sort that is not declared", "map f: D;";
    CIRCULAR_SORT = "M103", "a sort that is defined by itself alone", "sort A = List(A);";
    RECURSIVE_SORT = "M104", "a structured sort that holds functions, sets or bags of itself", "sort A = struct c(A -> A);";
    EMPTY_SORT = "M105", "a sort without values", "sort A = struct c(A);";
    DECLARED_TWICE = "M106", "a name is declared twice", "map f: Nat; f: Bool;";
    BUILT_IN = "M107", "a declaration of something that is built in", "map succ: Nat -> Nat;";
    PRODUCT = "M108", "`#` where no function or action is declared", "map f: Nat # Nat;";
    MISMATCH = "M109", "an expression has another sort than is needed there", "map f: Nat; eqn f = true;";
    NO_CANDIDATE = "M110", "no function of that name takes these arguments", "map f: List(Nat); eqn f = [1] + [2];";
    ARITY = "M111", "a function takes another number of arguments", "map f: Nat -> Nat; g: Nat; eqn g = f(1, 2);";
    AMBIGUOUS = "M112", "several functions fit equally well", "map f: Nat -> Nat; f: Nat -> Bool; g: Bool; eqn g = f(1) == f(1);";
    CLASH = "M113", "a variable has the name of a function", "map f: Nat; g: Bool; eqn g = forall f: Nat. true;";
    NOT_A_FUNCTION = "M114", "something that is not a function is applied", "map f: Nat; g: Nat; eqn g = f(1);";
    EXTRA_VARIABLE = "M115", "an equation with a variable that its left side does not have; a warning",
        "map f: Nat -> Nat; var n, m: Nat; eqn f(n) = m;";
    VARIABLE_ALONE = "M116", "an equation whose left side is a variable or a number; a warning",
        "map f: Nat -> Nat; var n: Nat; eqn n = f(n);";
    NUMBER_PATTERN = "M117", "an arithmetic pattern, which no number matches; a warning",
        "map f: Nat -> Nat; var n: Nat; eqn f(n + 1) = n;";
    VARIABLE_TWICE = "M118", "a variable is declared twice in one scope", "var n: Nat; n: Bool; eqn true = true;";
    OVERLAP = "M119", "two equations fit the same terms and differ there; a warning",
        "map f: Nat -> Nat; var n: Nat; eqn f(0) = 5; f(n) = 6;";
    DEEP_SORT = "M120", "a sort has too many containers and functions inside each other", "map f: List(List(List(…)));";
}
