//! What users type, right and wrong.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{Lts, LtsBuilder};
use trefoil_network::{CODES, Component, Composition, Synchronise, compose};
use trefoil_system::{Labels, StateId};

/// A cycle through these labels.
fn cycle(labels: &Arc<Labels>, names: &[&str]) -> Lts {
    let mut builder = LtsBuilder::new(labels.clone());
    for (index, name) in names.iter().enumerate() {
        let next = (index + 1) % names.len();
        builder.add(StateId(index as u32), labels.name(name), StateId(next as u32));
    }
    builder.build(StateId(0))
}

fn composition(components: &[&[&str]]) -> Composition {
    let labels = Arc::new(Labels::new());
    let make = |(index, names): (usize, &&[&str])| {
        Component::new(format!("c{}.aut", index + 1), Arc::new(cycle(&labels, names)))
    };
    Composition::new(labels.clone(), components.iter().enumerate().map(make).collect())
}

fn sender_receiver() -> Composition {
    composition(&[&["in(0,1)", "send(0)", "in(1,1)", "send(1)"], &["receive(1)", "receive(0)", "out"]])
}

/// The transitions of the composition, as text.
fn shown(composition: Composition) -> Vec<String> {
    let network = composition.network().unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    let composed = compose(&network, 1, &Control::unlimited()).expect("nothing stops it");
    let text = |label| composed.lts.labels().get(label).to_string();
    composed.lts.all_transitions().map(|(s, t)| format!("{} {} {}", s.0, text(t.label), t.target.0)).collect()
}

/// The code and message of the only mistake, and its hint.
fn mistake(composition: Composition) -> (String, String) {
    let mistakes = composition.network().err().expect("a mistake");
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert!(CODES.iter().any(|entry| entry.code == mistakes[0].code));
    (format!("{} {}", mistakes[0].code, mistakes[0].message), mistakes[0].help.clone().unwrap_or_default())
}

#[test]
fn shared_labels_synchronise_by_default() {
    assert_eq!(shown(composition(&[&["a", "c"], &["b", "c"]])).len(), 5);
    let blocked = composition(&[&["a"], &["b", "a"]]);
    assert_eq!(shown(blocked), ["0 b 1", "1 a 0"]);
}

#[test]
fn termination_is_distributed() {
    assert_eq!(shown(composition(&[&["a", "✓"], &["✓"]])), ["0 a 1", "1 ✓ 0"]);
    assert_eq!(shown(composition(&[&["a", "✓"], &["b"]])), ["0 a 1", "0 b 0", "1 b 1"]);
}

#[test]
fn a_vector_with_stars_is_communication_of_values() {
    let mut composition = sender_receiver();
    composition.vectors = vec!["send(*), receive(*) -> c(*)".into()];
    composition.hide_all_but = Some(vec!["c*".into()]);
    let transitions = shown(composition);
    assert!(transitions.iter().all(|t| t.contains(" c(1) ") || t.contains(" c(0) ") || t.contains(" tau ")));
    // The sender's first value is 0, the receiver wants 1.
    assert_eq!(transitions, ["0 tau 1"]);
}

#[test]
fn a_label_that_a_vector_fits_is_blocked_without_a_partner() {
    // The third component's `send(2)` is in no vector and moves alone.
    let mut partly = composition(&[&["send(1)", "send(2)"], &["recv(1)"], &["send(2)"]]);
    partly.vectors = vec!["send(*),recv(*),_ -> c(*)".into()];
    assert_eq!(shown(partly), ["0 c(1) 1", "0 send(2) 0", "1 send(2) 1"]);
    let mut receiver = composition(&[&["send(1)"], &["recv(1)", "recv(2)"]]);
    receiver.vectors = vec!["send(*),recv(*) -> c(*)".into()];
    assert_eq!(shown(receiver), ["0 c(1) 1"]);
    // A vector for that value alone sets it free.
    let mut freed = composition(&[&["send(1)", "send(2)"], &["recv(1)"]]);
    freed.vectors = vec!["send(*),recv(*) -> c(*)".into(), "send(2),_ -> lost".into()];
    assert_eq!(shown(freed), ["0 c(1) 1", "1 lost 0"]);
}

#[test]
fn stars_that_nothing_fills_are_refused_unless_they_are_labels() {
    let vector = |text: &str| {
        let mut composition = composition(&[&["s(1)", "t*u*"], &["r(1)", "b"]]);
        composition.vectors = vec![text.into()];
        composition
    };
    let one = "N002 an entry has at most one `*`";
    assert_eq!(mistake(vector("s(*),r(*) -> c(*,*)")).0, one);
    assert_eq!(mistake(vector("s(*)*,r(*) -> c(*)")).0, one);
    assert_eq!(mistake(vector("s(1),*(*) -> c")).0, one);
    assert_eq!(mistake(vector("s(1),r(1) -> c(*)")).0, "N002 no entry says what this `*` stands for");
    let first = |text: &str| shown(vector(text))[0].clone();
    assert_eq!(first("s(*),r(*) -> \"c(*,*)\""), "0 c(*,*) 1");
    assert_eq!(first("s(1),r(1) -> t*u*"), "0 t*u* 1");
    assert_eq!(first("s(*),r(*) -> t*u*"), "0 t*u* 1");
    let rename = |text: &str| {
        let mut composition = composition(&[&["s(1)", "t*u*"]]);
        composition.rename = vec![text.into()];
        composition
    };
    assert!(mistake(rename("s(1)=c*")).0.starts_with("N005"));
    assert!(mistake(rename("t*u*=c*")).0.starts_with("N005"));
    assert_eq!(shown(rename("s(1)=\"c*\"")), ["0 c* 1", "1 t*u* 0"]);
    assert_eq!(shown(rename("s(*)=t*u*")), ["0 t*u* 1", "1 t*u* 0"]);
}

#[test]
fn an_empty_list_of_what_stays_visible_hides_everything() {
    for nothing in [vec![String::new()], vec![" ".into()], Vec::new()] {
        let mut hidden = composition(&[&["a", "b", "✓"]]);
        hidden.hide_all_but = Some(nothing);
        assert_eq!(shown(hidden), ["0 tau 1", "1 tau 2", "2 ✓ 0"]);
    }
    let mut quoted = composition(&[&["a", ""]]);
    quoted.hide_all_but = Some(vec!["\"\"".into()]);
    assert_eq!(shown(quoted), ["0 tau 1", "1  0"]);
}

#[test]
fn commas_in_labels_do_not_separate() {
    let mut composition = sender_receiver();
    composition.hide = vec!["in(0,1),in(1,1)".into()];
    assert!(shown(composition).iter().all(|transition| !transition.contains(" in")));
}

#[test]
fn renaming_is_simultaneous_and_relational() {
    let mut swap = composition(&[&["a", "b"]]);
    swap.rename = vec!["a=b,b=a".into()];
    assert_eq!(shown(swap), ["0 b 1", "1 a 0"]);
    let mut split = composition(&[&["a", "b"]]);
    split.rename = vec!["a=x".into(), "a=y".into()];
    assert_eq!(shown(split), ["0 x 1", "0 y 1", "1 b 0"]);
    let mut stars = composition(&[&["in(1)", "in(2)"]]);
    stars.rename = vec!["in(*)=out.*".into()];
    assert_eq!(shown(stars), ["0 out.1 1", "1 out.2 0"]);
}

#[test]
fn hiding_speaks_of_the_new_names() {
    let mut hidden = composition(&[&["a", "b"]]);
    hidden.rename = vec!["a=x".into()];
    hidden.hide = vec!["x".into()];
    assert_eq!(shown(hidden), ["0 tau 1", "1 b 0"]);
    let mut old = composition(&[&["a", "b"]]);
    old.rename = vec!["a=x".into()];
    old.hide = vec!["a".into()];
    assert!(mistake(old).0.starts_with("N001"));
}

#[test]
fn exact_text_comes_before_wildcards() {
    let mut exact = composition(&[&["a*", "ab"]]);
    exact.hide = vec!["a*".into()];
    assert_eq!(shown(exact), ["0 tau 1", "1 ab 0"]);
}

#[test]
fn mistakes_have_codes_places_and_hints() {
    let wrong = |change: fn(&mut Composition)| {
        let mut composition = sender_receiver();
        change(&mut composition);
        mistake(composition)
    };
    let sync = |list: &str| Synchronise::Only(vec![list.to_string()]);
    let mut misspelt = sender_receiver();
    misspelt.synchronise = sync("send(0),sned(1)");
    let mistakes = misspelt.network().err().expect("a mistake");
    let trefoil_source::Place::Line(line) = &mistakes[0].labels[0].place else { panic!("a place") };
    assert_eq!((&line.text[line.range.clone()], line.column), ("sned(1)", 9));
    assert_eq!(mistakes[0].help.as_deref(), Some("there is `send(1)`"));

    assert!(wrong(|c| c.hide = vec!["nothing*".into()]).0.starts_with("N001"));
    assert!(wrong(|c| c.vectors = vec!["send(0),receive(0)".into()]).0.starts_with("N002"));
    assert!(wrong(|c| c.vectors = vec!["_,_ -> c".into()]).0.starts_with("N002"));
    assert!(wrong(|c| c.vectors = vec!["send(0) -> c".into()]).0.starts_with("N003"));
    let (message, help) = wrong(|c| c.vectors = vec!["send(0),recieve(0) -> c".into()]);
    assert_eq!(message, "N004 component 2 (c2.aut) does not have `recieve(0)`");
    assert_eq!(help, "there is `receive(0)`");
    assert!(wrong(|c| c.vectors = vec!["in*,receive(*) -> c".into()]).0.starts_with("N004"));
    assert!(wrong(|c| c.rename = vec!["out".into()]).0.starts_with("N005"));
    assert!(wrong(|c| c.rename = vec!["out=".into()]).0.starts_with("N005"));
    assert!(wrong(|c| c.rename = vec!["o*u*=x*".into()]).0.starts_with("N005"));
    assert!(wrong(|c| c.rename = vec!["out=✓".into()]).0.starts_with("N006"));
    assert!(wrong(|c| c.hide = vec!["tau".into()]).0.starts_with("N006"));
    assert!(wrong(|c| c.vectors = vec!["tau,out -> c".into()]).0.starts_with("N006"));
    assert!(wrong(|c| c.components.clear()).0.starts_with("N007"));
    assert!(wrong(|c| (c.hide, c.hide_all_but) = (vec!["out".into()], Some(Vec::new()))).0.starts_with("N009"));
    assert!(wrong(|c| c.hide = vec!["in(0,1".into()]).0.starts_with("N010"));
}
