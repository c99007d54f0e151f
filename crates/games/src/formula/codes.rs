//! The codes of what is reported about formulas.

trefoil_data::code_table! { pub
    EXPECTED = "F001", "the formula goes on with something that cannot stand there", "[a b]true";
    NO_FORMULA = "F002", "a text without a formula", "map f: Nat;";
    TIME = "F003", "time, which is not supported", "delay @ 3";
    QUANTITATIVE = "F004", "a quantitative formula, which is not supported", "val(1) + <a>val(2)";
    NEEDS_VAL = "F005", "data outside of `val`", "forall n: Nat. n < 3 => <a>true";
    UNKNOWN_ACTION = "F006", "the model has no action of that name", "<missing>true";
    ACTION_ARITY = "F007", "an action with another number of arguments", "[true* . error]false, where error takes a number";
    NO_CANDIDATE = "F008", "no action of that name takes arguments of these sorts", "<a([])>true, where a takes a number";
    AMBIGUOUS = "F009", "several actions of that name take these arguments", "<a(1)>true, with a: Nat and a: Int";
    UNKNOWN_FIXPOINT = "F010", "a variable that no fixpoint binds", "nu X. [a]Y";
    FIXPOINT_ARITY = "F011", "a fixpoint variable with another number of values", "nu X(n: Nat = 0). X";
    PARAMETER_TWICE = "F012", "two parameters of a fixpoint have one name", "nu X(n: Nat = 0, n: Nat = 1). X(n, n)";
    NOT_MONOTONE = "F013", "a fixpoint variable below an odd number of negations", "nu X. ![a]X";
    DECLARATION = "F014", "a section that a formula cannot have", "init a; form true;";
    TEMPLATE = "F015", "no pattern of that name with so many action formulas", "trefoil check m.mcrl2 --property 'respons(a, b)'";
}
