//! State spaces of linear processes, computed in the simplest way: every summand is evaluated in every state. Known
//! sizes check the linear process and the expressions that it was read back into.

use std::collections::{BTreeSet, HashMap, HashSet};

use trefoil_control::Control;
use trefoil_data::rewrite::{FunctionIndex, Program, Rewriter};
use trefoil_data::typed::{TypedId, VariableId};
use trefoil_mcrl2::linear::{Analyses, Event, LinearProcess, linearise};
use trefoil_mcrl2::{processes, syntax};
use trefoil_source::FileId;
use trefoil_terms::{Options, Pool, Term};

fn linear(text: &str, analyses: Analyses) -> LinearProcess {
    let mut diagnostics = Vec::new();
    let tree = syntax::parse(text, FileId(0), &mut diagnostics);
    let typed = processes::check(&tree, text, &mut diagnostics).unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
    linearise(&typed, analyses, &Control::unlimited()).unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"))
}

/// Numbers of states and of distinct transitions, and the labels.
fn explore(linear: &LinearProcess) -> (usize, usize, BTreeSet<String>) {
    let mut expressions: Vec<(TypedId, Vec<VariableId>)> = Vec::new();
    let parameters: Vec<VariableId> = linear.parameters.iter().map(|parameter| parameter.variable).collect();
    expressions.extend(linear.parameters.iter().map(|parameter| (parameter.initial, Vec::new())));
    for summand in &linear.summands {
        let variables: Vec<VariableId> = parameters.iter().chain(&summand.variables).copied().collect();
        let mut add = |id: TypedId| expressions.push((id, variables.clone()));
        summand.conditions.iter().copied().for_each(&mut add);
        if let Event::Actions(actions) = &summand.event {
            actions.iter().flat_map(|(_, arguments)| arguments.iter().copied()).for_each(&mut add);
        }
        summand.updates.iter().for_each(|(_, value)| add(*value));
    }
    let pool = Pool::new(Options::default());
    let (program, codes) = Program::new(linear.data.clone(), &expressions, &pool);
    let worker = pool.worker();
    let _outer = worker.enter();
    let mut rewriter = Rewriter::new(&program, &worker);
    let mut value = |code: FunctionIndex, values: &[Term]| rewriter.evaluate(code, values).expect("it ends");
    let mut codes = codes.into_iter();
    let initial: Vec<Term> = codes.by_ref().take(parameters.len()).map(|code| value(code, &[])).collect();
    let codes: Vec<FunctionIndex> = codes.collect();
    let section = worker.enter();
    let yes = program.truth_term(true);
    let mut numbers: HashMap<Vec<Term>, usize> = HashMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut transitions: HashSet<(usize, String, usize)> = HashSet::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        let mut first = 0;
        for summand in &linear.summands {
            let mut rows: Vec<Vec<Term>> = vec![state.clone()];
            for &variable in &summand.variables {
                let sort = linear.data.tree.variable(variable).1;
                let values = program.values(&section, sort).expect("sums in these models are over finite sorts");
                rows = rows
                    .iter()
                    .flat_map(|row| values.iter().map(move |&one| row.iter().copied().chain([one]).collect()))
                    .collect();
            }
            let conditions = first..first + summand.conditions.len();
            let arguments: usize = match &summand.event {
                Event::Actions(actions) => actions.iter().map(|(_, arguments)| arguments.len()).sum(),
                Event::Terminate => 0,
            };
            let updates = conditions.end + arguments;
            first = updates + summand.updates.len();
            for row in rows {
                if !conditions.clone().all(|code| value(codes[code], &row) == yes) {
                    continue;
                }
                let mut code = conditions.end;
                let label = match &summand.event {
                    Event::Terminate => "Terminate".to_string(),
                    Event::Actions(actions) => {
                        let parts = actions.iter().map(|(action, arguments)| {
                            let mut text = linear.data.names.text(linear.actions[action.0 as usize].name).to_string();
                            for _ in arguments {
                                text.push_str(&format!(" {}", program.text(&section, value(codes[code], &row))));
                                code += 1;
                            }
                            text
                        });
                        parts.collect::<Vec<_>>().join("|")
                    }
                };
                let mut target = state.clone();
                for (place, (parameter, _)) in summand.updates.iter().enumerate() {
                    target[*parameter] = value(codes[updates + place], &row);
                }
                let number = *numbers.entry(target.clone()).or_insert_with(|| {
                    states.push(target);
                    states.len() - 1
                });
                transitions.insert((next, label, number));
            }
        }
        next += 1;
    }
    let labels = transitions.iter().map(|(_, label, _)| label.clone()).collect();
    (states.len(), transitions.len(), labels)
}

fn sizes(text: &str) -> (usize, usize) {
    let (states, transitions, labels) = explore(&linear(text, Analyses::ALL));
    // Analyses change neither what can happen nor make more states.
    let (more, _, same) = explore(&linear(text, Analyses::NONE));
    assert!(states <= more, "{states} states with analyses, {more} without");
    assert_eq!(labels, same);
    (states, transitions)
}

#[test]
fn termination_is_one_joint_step() {
    assert_eq!(sizes("act a, b; init a || b;"), (5, 6));
    assert_eq!(sizes("act a, b; init a || b . delta;"), (4, 5));
    assert_eq!(sizes("act a; init a . a;"), (4, 3));
    assert_eq!(sizes("act a, b; init allow({a}, a . b + a);"), (4, 3));
}

#[test]
fn hidden_steps_happen_together_with_others() {
    // a, then tau; tau, then a; both at once.
    assert_eq!(sizes("act a, b; init hide({b}, (a . delta) || (b . delta));"), (4, 5));
    assert_eq!(sizes("act a; init (a . delta) || (tau . delta);"), (4, 5));
}

#[test]
fn philosophers_have_their_known_sizes() {
    let dining = |seats: usize| {
        let table: Vec<String> = (1..=seats).map(|seat| format!("Fork({seat}) || Seat({seat})")).collect();
        format!(
            "map next: Pos -> Pos; var n: Pos; eqn next(n) = if(n == {seats}, 1, n + 1);
             act take, give, lift, drop, up, down: Pos # Pos; eat: Pos;
             proc Seat(n: Pos) = take(n, n) . take(n, next(n)) . eat(n) . give(n, n) . give(n, next(n)) . Seat(n);
                  Fork(n: Pos) = sum m: Pos . lift(m, n) . drop(m, n) . Fork(n);
             init allow({{up, down, eat}}, comm({{take|lift -> up, give|drop -> down}}, {}));",
            table.join(" || ")
        )
    };
    assert_eq!(sizes(&dining(8)), (14_158, 72_336));
}

#[test]
fn values_of_all_sorts_are_read_back() {
    let text = "sort D = struct leaf?is_leaf | node(left: D, value: Nat);
         map grow: D -> D; var d: D; eqn grow(d) = if(is_leaf(d), node(leaf, 0), if(value(d) < 2, node(d, value(d) + 1), leaf));
         act a: D; b: List(Nat); c: Set(Nat); e: Bool; f: Int # Real;
         proc P(d: D, l: List(Nat), s: Set(Nat), g: Nat -> Nat, i: Int) =
                a(d) . P(d = grow(d))
              + (#l < 2) -> b(l) . P(l = #l |> l)
              + c(s) . P(s = s + {#l})
              + e(exists x: Nat . x < 3 && x in s && g(x) == 1) . P(g = g[#l -> 1])
              + (i > -2) -> f(i, i / 2) . P(i = i - 1);
         init P(leaf, [], {}, lambda x: Nat . 0, 1);";
    let (states, _, labels) = explore(&linear(text, Analyses::ALL));
    assert_eq!(explore(&linear(text, Analyses::NONE)).0, states);
    for label in ["b []", "b [0]", "c {}", "c {0, 1, 2}", "e true", "f -1 -1 / 2", "f 1 1 / 2"] {
        assert!(labels.contains(label), "{label} is not among {labels:?}");
    }
}

#[test]
fn alternating_bits_have_their_known_sizes() {
    let text = "sort Message = struct hello | world; Answer = struct garbled;
         act read, write: Message; s1, r1, c1, s2, r2, c2: Message # Bool; s2, r2, c2: Answer;
             s3, r3, c3, s4, r4, c4: Bool; s4, r4, c4: Answer; i;
         proc Sender(b: Bool) = sum m: Message . read(m) . Sending(m, b);
              Sending(m: Message, b: Bool) =
                s1(m, b) . ((r4(!b) + r4(garbled)) . Sending(m, b) + r4(b) . Sender(!b));
              Receiver(b: Bool) =
                sum m: Message . r2(m, b) . write(m) . s3(b) . Receiver(!b)
                + (sum m: Message . r2(m, !b) + r2(garbled)) . s3(!b) . Receiver(b);
              There = sum m: Message, b: Bool . r1(m, b) . (i . s2(m, b) + i . s2(garbled)) . There;
              Back = sum b: Bool . r3(b) . (i . s4(b) + i . s4(garbled)) . Back;
         init allow({read, write, c1, c2, c3, c4, i},
                comm({s1|r1 -> c1, s2|r2 -> c2, s3|r3 -> c3, s4|r4 -> c4},
                  Sender(true) || There || Back || Receiver(true)));";
    assert_eq!(sizes(text), (74, 92));
}

#[test]
fn values_that_do_not_matter_make_no_states() {
    let text = "glob any: Bool; act a: Bool;
         proc P(busy: Bool, d: Bool) = busy -> a(d) . P(false, any) <> sum e: Bool . a(e) . P(true, e);
         init P(false, any);";
    assert_eq!(sizes(text), (3, 4));
}
