//! The codes of what this stage reports.

trefoil_data::code_table! { pub
    UNKNOWN_PROCESS = "M201", "a name that is neither an action nor a process", "init a;";
    DECLARED_TWICE = "M202", "an action or a process is declared twice", "act a; a; init a;";
    ONE_NAME = "M203", "an action and a process have one name", "act a; proc a = delta; init a;";
    ARITY = "M204", "an action or a process takes another number of arguments", "act a: Nat; init a(1, 2);";
    NO_CANDIDATE = "M205", "no action or process of that name takes arguments of these sorts",
        "act a: Nat; a: Bool; init a([]);";
    AMBIGUOUS = "M206", "several actions or processes of that name take these arguments",
        "act a: Nat; a: Int; init a(1);";
    NO_PARAMETER = "M207", "a value for a parameter that the process does not have",
        "act a; proc P(n: Nat) = a . P(m = 1); init P(1);";
    TWO_VALUES = "M208", "a parameter gets two values", "act a; proc P(n: Nat) = a . P(n = 1, n = 2); init P(1);";
    NO_VALUE = "M209", "a parameter gets no value, and the caller has no parameter of that name and sort",
        "act a; proc P(n: Nat) = a . P(); init P();";
    NOT_AN_ACTION = "M210", "a part of a multi-action is no action", "act a; proc P = a; init a | P;";
    COMMUNICATES_TWICE = "M211", "an action communicates in two ways",
        "act a, b, c; init comm({a|b -> c, a|c -> b}, a);";
    RESULT_COMMUNICATES = "M212", "the result of one communication takes part in another one",
        "act a, b, c, d; init comm({a|b -> c, c|d -> d}, a);";
    COMMUNICATION_SORTS = "M213", "actions with different sorts communicate",
        "act a: Nat; b, c; init comm({a|b -> c}, b);";
    RENAMED_TWICE = "M214", "an action is renamed twice", "act a, b, c; init rename({a -> b, a -> c}, a);";
    RENAMING_SORTS = "M215", "an action is renamed to one with other sorts",
        "act a: Nat; b: Bool; init rename({a -> b}, a(1));";
    TIME = "M216", "time, which is not supported", "act a; init a @ 3;";
    PROBABILITY = "M217", "probabilities, which are not supported", "act a; init dist b: Bool[1 / 2]. a;";
    AUXILIARY = "M218", "an operator that only equations of processes need, which is not supported",
        "act a, b; init a ||_ b;";
    UNGUARDED = "M219", "recursion without an action", "act a; proc P = P + a; init P;";
    SEVERAL_INITS = "M220", "a second initial process", "act a; init a; init a;";
    NO_INIT = "M221", "a command needs a process, and there is no `init`", "trefoil check …, with a specification of data";
    NO_EFFECT = "M222", "an element of a set that changes nothing; a warning", "act a; init hide({a, a}, a);";
}
