//! What permutations of constants do to labels.

#[path = "support/evaluation.rs"]
mod evaluation;

use std::collections::BTreeMap;
use std::sync::Arc;

use evaluation::prepare;
use trefoil_control::Control;
use trefoil_cspm::eval::{Evaluator, Options};
use trefoil_cspm::process::{CompileOptions, Compiler};
use trefoil_cspm::symmetry::{Points, UnknownPoint};
use trefoil_system::{LabelId, Labels};

fn compiler(script: &str, processes: &[&str]) -> Compiler {
    let evaluator = Evaluator::untyped(&prepare(script, processes), Control::unlimited(), Options::default());
    let options = CompileOptions { compress_leaves: false, expand: true, ..CompileOptions::default() };
    let mut compiler = Compiler::new(evaluator, Arc::new(Labels::new()), Control::unlimited(), options);
    for at in 0..processes.len() {
        let value = compiler.evaluator().query(at).and_then(|value| compiler.evaluator().process(value));
        let value = value.unwrap_or_else(|failure| panic!("{failure:?}"));
        compiler.compile(&value).unwrap_or_else(|failure| panic!("{failure:?}"));
    }
    compiler
}

fn points(compiler: &mut Compiler, families: &[(&str, &[&str])]) -> Points {
    let owned = |(name, constants): &(&str, &[&str])| {
        (name.to_string(), constants.iter().map(|constant| constant.to_string()).collect())
    };
    let families: Vec<(String, Vec<String>)> = families.iter().map(owned).collect();
    Points::new(compiler.evaluator(), &families).expect("these constants are there")
}

/// The labels that move, with their images, as text.
fn moved(compiler: &mut Compiler, points: &Points, images: &[u32]) -> Result<BTreeMap<String, String>, String> {
    let all: Vec<LabelId> = (0..compiler.labels().len() as u32).map(LabelId).collect();
    let map = compiler.label_map(&mut points.permutation(images), &all).unwrap_or_else(|failure| panic!("{failure:?}"));
    let map = map.map_err(|none| format!("{}: {}", none.event, none.misfit.describe(compiler.evaluator())))?;
    let labels = compiler.labels().clone();
    assert_eq!(map.len(), labels.len());
    let mut images: Vec<LabelId> = map.clone();
    images.sort_unstable();
    assert!(images.iter().enumerate().all(|(at, image)| image.index() == at), "a permutation of the labels");
    let moved = map.iter().enumerate().filter(|(at, image)| *at != image.index());
    Ok(moved.map(|(at, &image)| (labels.get(LabelId(at as u32)).to_string(), labels.get(image).to_string())).collect())
}

#[test]
fn values_are_mapped_wherever_they_stand() {
    let script = "datatype T = A | B | C | Null\n\
                  datatype Box = Empty | Full.T | Pair.T.Int\n\
                  channel plain : T.Int\nchannel boxed : Box\n\
                  channel tuples : (T, Bool)\nchannel sequences : {<>, <A>, <B>, <A, B>, <B, A>}\n\
                  channel sets : Set({A, B})\nchannel maps : Map({A, B}, {0, 1})\nchannel quiet : Int\n";
    let processes = [
        "plain!A.0 -> plain.Null.1 -> plain.C.2 -> STOP",
        "boxed!Full.A -> boxed.Pair.B.1 -> boxed.Empty -> STOP",
        "tuples!(A, true) -> sequences.<A, B> -> sequences.<B> -> sets.{A} -> sets.{A, B} -> sets!{} -> STOP",
        "maps.(| A => 1 |) -> maps.(| A => 0, B => 1 |) -> quiet.3 -> SKIP",
    ];
    let mut compiler = compiler(script, &processes);
    let points = points(&mut compiler, &[("T", &["A", "B", "C"])]);
    assert_eq!(points.names().collect::<Vec<_>>(), ["A", "B", "C"]);
    let found = moved(&mut compiler, &points, &[1, 0, 2]).expect("every event has an image");
    let expected = [
        ("plain.A.0", "plain.B.0"),
        ("boxed.Full.A", "boxed.Full.B"),
        ("boxed.Pair.B.1", "boxed.Pair.A.1"),
        ("tuples.(A, true)", "tuples.(B, true)"),
        ("sequences.<A, B>", "sequences.<B, A>"),
        ("sequences.<B>", "sequences.<A>"),
        ("sets.{A}", "sets.{B}"),
        ("maps.(|A => 1|)", "maps.(|B => 1|)"),
        ("maps.(|A => 0, B => 1|)", "maps.(|A => 1, B => 0|)"),
    ];
    let both_ways = expected.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let expected: BTreeMap<String, String> = both_ways.map(|(a, b)| (a.to_string(), b.to_string())).collect();
    let plainly = |text: &str| text.replace(['(', ')', ' '], "");
    let shown = |map: &BTreeMap<String, String>| -> Vec<(String, String)> {
        let mut pairs: Vec<_> = map.iter().map(|(a, b)| (plainly(a), plainly(b))).collect();
        pairs.sort();
        pairs
    };
    assert_eq!(shown(&found), shown(&expected));
}

#[test]
fn an_event_without_an_image_is_told() {
    let script = "datatype T = A | B\nchannel c : {A}\nchannel d : T\nchannel e : W\ndatatype W = In.{A}\n";
    let mut narrow = compiler(script, &["c.A -> STOP"]);
    let both = points(&mut narrow, &[("T", &["A", "B"])]);
    let told = moved(&mut narrow, &both, &[1, 0]).unwrap_err();
    assert_eq!(told, "c.A: B is outside the type of field 1 of the channel `c`");
    let mut wide = compiler(script, &["d.A -> STOP"]);
    let both = points(&mut wide, &[("T", &["A", "B"])]);
    assert_eq!(moved(&mut wide, &both, &[1, 0]).map(|moved| moved.len()), Ok(2));
    let mut inside = compiler(script, &["e.In.A -> STOP"]);
    let both = points(&mut inside, &[("T", &["A", "B"])]);
    let told = moved(&mut inside, &both, &[1, 0]).unwrap_err();
    assert!(told.ends_with("B is outside the type of field 1 of the constructor `In`"), "{told}");
}

#[test]
fn longer_cycles_and_several_types_act_at_once() {
    let script = "datatype T = A | B | C\ndatatype S = X | Y\nchannel c : T.S\n";
    let mut compiler = compiler(script, &["c.A.X -> STOP"]);
    let points = points(&mut compiler, &[("T", &["A", "B", "C"]), ("S", &["X", "Y"])]);
    assert_eq!(points.families()[1].first, 3);
    // All six images are met by following the one label.
    assert_eq!(moved(&mut compiler, &points, &[1, 2, 0, 4, 3]).map(|moved| moved.len()), Ok(6));
    assert_eq!(moved(&mut compiler, &points, &[0, 1, 2, 3, 4]).map(|moved| moved.len()), Ok(0));
}

#[test]
fn points_of_instances_and_unknown_names() {
    let script = "module M(n)\nexports\ndatatype D = P | Q | R.Int\nendmodule\ninstance I = M(1)\ninstance J = M(2)\n\
                  module N\nexports\ndatatype E = U | V\nendmodule\n\
                  channel c : I::D\nchannel d : J::D\nchannel e : N::E\n";
    let mut compiler = compiler(script, &["c.I::P -> d.J::P -> e.N::U -> STOP"]);
    let points = points(&mut compiler, &[("I::D", &["I::P", "I::Q"]), ("N::E", &["N::U", "N::V"])]);
    let found = moved(&mut compiler, &points, &[1, 0, 3, 2]).expect("every event has an image");
    assert_eq!(found.keys().collect::<Vec<_>>(), ["c.I::P", "c.I::Q", "e.N::U", "e.N::V"]);
    let unknown = |name: &str, constant: &str| {
        Points::new(
            &Evaluator::untyped(&prepare(script, &[]), Control::unlimited(), Options::default()),
            &[(name.to_string(), vec![constant.to_string()])],
        )
        .unwrap_err()
    };
    assert_eq!(unknown("D", "P"), UnknownPoint::Datatype("D".to_string()));
    assert_eq!(unknown("I::D", "I::R"), UnknownPoint::Constant("I::D".to_string(), "I::R".to_string()));
}

/// A hundred thousand labels with sets inside.
#[test]
fn large_tables_are_mapped() {
    let script = "datatype T = A | B | C | D | E | F | G | H | I | J\nchannel c : T.T.T.Set({A, B, C, D, E}).Bool\n";
    let mut compiler = compiler(script, &["RUN({| c |})"]);
    assert!(compiler.labels().len() > 60_000);
    let points = points(&mut compiler, &[("T", &["A", "B"])]);
    assert!(moved(&mut compiler, &points, &[1, 0]).expect("every event has an image").len() > 40_000);
}
