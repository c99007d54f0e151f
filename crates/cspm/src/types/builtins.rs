//! The types of the built-in names.

use super::*;

impl Checker<'_> {
    /// The type of a built-in, made when it is first used.
    pub(super) fn builtin(&mut self, builtin: Builtin) -> Scheme {
        if let Some(&scheme) = self.builtins.get(&builtin) {
            return scheme;
        }
        let nowhere = Span { file: self.solver.arena.here.file, start: 0, end: 0 };
        let here = std::mem::replace(&mut self.solver.arena.here, nowhere);
        let t = self.make_builtin(builtin);
        self.solver.arena.here = here;
        let scheme = Scheme { t, generic: self.solver.arena.is_generic(t) };
        self.builtins.insert(builtin, scheme);
        scheme
    }

    fn make_builtin(&mut self, builtin: Builtin) -> T {
        use Builtin::*;
        let arena = &mut self.solver.arena;
        let generic =
            |arena: &mut Arena, constraints| arena.make(Node::Variable { constraints, level: GENERIC, rigid: None });
        let (int, bool, char) = (arena.make(Node::Int), arena.make(Node::Bool), arena.make(Node::Char));
        let (process, event) = (arena.make(Node::Proc), arena.make(Node::Event));
        let events = arena.set(event);
        let string = arena.sequence(char);
        let constraints = match builtin {
            Member | Card | Empty | SeqOf | Elem | Mtransclose | RelationalImage => EQ,
            Length | Null | Head | Tail | Concat | Error | Show | Extensions => 0,
            Productions => YIELDABLE,
            _ => SET,
        };
        let a = generic(arena, constraints);
        let of_set = arena.set(a);
        let of_sequence = arena.sequence(a);
        match builtin {
            Union | Inter | Diff => arena.function(&[of_set, of_set], of_set),
            BigUnion | BigInter => {
                let sets = arena.set(of_set);
                arena.function(&[sets], of_set)
            }
            Member => arena.function(&[a, of_set], bool),
            Card => arena.function(&[of_set], int),
            Empty => arena.function(&[of_set], bool),
            SetOf => arena.function(&[of_sequence], of_set),
            Subsets => {
                let sets = arena.set(of_set);
                arena.function(&[of_set], sets)
            }
            Sequences => {
                let sequences = arena.set(of_sequence);
                arena.function(&[of_set], sequences)
            }
            SeqOf => arena.function(&[of_set], of_sequence),
            Length => arena.function(&[of_sequence], int),
            Null => arena.function(&[of_sequence], bool),
            Head => arena.function(&[of_sequence], a),
            Tail => arena.function(&[of_sequence], of_sequence),
            Concat => {
                let sequences = arena.sequence(of_sequence);
                arena.function(&[sequences], of_sequence)
            }
            Elem => arena.function(&[a, of_sequence], bool),
            Stop | Skip | Div => process,
            Chaos | Run => arena.function(&[events], process),
            TimedStop | TimedSkip => process,
            Wait => arena.function(&[int], process),
            Buffer | WeakBuffer | SignalBuffer | PrioritisePo => {
                let pair = arena.tuple(&[event, event]);
                let pairs = arena.set(pair);
                match builtin {
                    Buffer => arena.function(&[int, pairs], process),
                    WeakBuffer => arena.function(&[int, event, pairs], process),
                    SignalBuffer => arena.function(&[int, event, event, pairs], process),
                    _ => arena.function(&[process, events, pairs, events], process),
                }
            }
            Int => arena.set(int),
            Bool => arena.set(bool),
            Char => arena.set(char),
            Proc => arena.set(process),
            Events => events,
            True | False => bool,
            EmptyMap | MapFromList | MapLookup | MapMember | MapToList | MapUpdate | MapUpdateMultiple | MapDelete
            | Maps => {
                let value = generic(arena, if builtin == Maps { SET } else { 0 });
                let map = arena.make(Node::Map(a, value));
                let pair = arena.tuple(&[a, value]);
                let pairs = arena.sequence(pair);
                match builtin {
                    EmptyMap => map,
                    MapFromList => arena.function(&[pairs], map),
                    MapLookup => arena.function(&[map, a], value),
                    MapMember => arena.function(&[map, a], bool),
                    MapToList => arena.function(&[map], pairs),
                    MapUpdate => arena.function(&[map, a, value], map),
                    MapUpdateMultiple => arena.function(&[map, pairs], map),
                    MapDelete => arena.function(&[map, a], map),
                    _ => {
                        let values = arena.set(value);
                        let maps = arena.set(map);
                        arena.function(&[of_set, values], maps)
                    }
                }
            }
            Error => arena.function(&[string], a),
            Show => arena.function(&[a], string),
            Extensions => {
                let argument = generic(arena, YIELDABLE);
                let dotable = arena.make(Node::Dotable(a, argument));
                arena.function(&[dotable], of_set)
            }
            Productions => {
                let variable = generic(arena, 0);
                let extendable = arena.make(Node::Extendable(a, variable));
                arena.function(&[extendable], of_set)
            }
            Prioritise | PrioritiseNocache => {
                let orders = arena.sequence(events);
                arena.function(&[process, orders], process)
            }
            FailureWatchdog | TraceWatchdog => arena.function(&[process, events, event], process),
            Mtransclose => {
                let pair = arena.tuple(&[a, a]);
                let pairs = arena.set(pair);
                arena.function(&[pairs, of_set], pairs)
            }
            RelationalImage | RelationalInverseImage | Transpose => {
                let other = generic(arena, if builtin == RelationalInverseImage { EQ } else { SET });
                let pair = arena.tuple(&[a, other]);
                let pairs = arena.set(pair);
                let others = arena.set(other);
                match builtin {
                    RelationalImage => {
                        let image = arena.function(&[a], others);
                        arena.function(&[pairs], image)
                    }
                    RelationalInverseImage => {
                        let image = arena.function(&[other], of_set);
                        arena.function(&[pairs], image)
                    }
                    _ => {
                        let back = arena.tuple(&[other, a]);
                        let backs = arena.set(back);
                        arena.function(&[pairs], backs)
                    }
                }
            }
            Chase | ChaseNocache | Deter | Loop | TimedPriority | Explicate | Lazyenumerate | Diamond | Normal
            | Lazynorm | Sbisim | Wbisim | Dbisim | TauLoopFactor | ModelCompress => {
                arena.function(&[process], process)
            }
        }
    }
}
