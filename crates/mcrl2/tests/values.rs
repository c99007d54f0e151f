//! `values.md`: normal forms of expressions, as mCRL2's interpreter gives them.

mod support;

use trefoil_data::rewrite::Unfinished;
use trefoil_data::signature::{FunctionId, Operator, Origin};
use trefoil_data::typed::DataSpecification;

use support::values::{data, steps, typed, value};

fn page() -> (DataSpecification, Vec<(&'static str, &'static str)>) {
    let page = include_str!("values.md");
    let (_, rest) = page.split_once("```mcrl2\n").expect("declarations");
    let (declarations, rest) = rest.split_once("\n```").expect("the end of the declarations");
    let blocks = rest.split("```text\n").skip(1).map(|block| block.split_once("\n```").expect("the end of a block").0);
    let rows = blocks.flat_map(str::lines).map(|line| line.split_once("  →  ").expect("an arrow")).collect();
    let (data, warnings) = data(declarations);
    assert_eq!(warnings, ["M119"], "the equations of `over` overlap");
    (data, rows)
}

#[test]
fn normal_forms_are_those_of_mcrl2() {
    let (data, rows) = page();
    assert!(rows.len() >= 500, "{} rows", rows.len());
    let differing: Vec<String> = rows
        .into_iter()
        .filter_map(|(expression, expected)| {
            let found = value(expression, &data, false, u64::MAX);
            (found.as_deref() != Ok(expected)).then(|| format!("{expression}  →  {found:?}, not {expected}"))
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// The parts of a sort without the sorts of elements: `FSet(Nat) # Set(Nat) -> FSet(Nat)` is `FSet`, `Set`, `FSet`.
fn shape(sort: &str) -> Vec<String> {
    let mut depth = 0;
    let mut outside = String::new();
    for character in sort.chars() {
        depth += i32::from(character == '(');
        if depth == 0 {
            outside.push(character);
        }
        depth -= i32::from(character == ')');
    }
    outside.replace(" -> ", " # ").split(" # ").map(str::to_string).collect()
}

#[test]
fn the_page_uses_every_built_in_function_at_every_sort_of_numbers_and_containers() {
    let (mut data, rows) = page();
    for (expression, _) in rows {
        typed(expression, &mut data);
    }
    let functions = (0..data.signature.len() as u32).map(|index| data.signature.function(FunctionId(index)));
    let used: Vec<(Operator, Vec<String>)> = functions
        .filter_map(|function| match function.origin {
            Origin::Builtin(operator) => Some((operator, shape(&data.sort_text(function.sort)))),
            _ => None,
        })
        .collect();
    let mut missing = Vec::new();
    for &(operator, name, sorts) in Operator::TABLE.iter().filter(|(_, name, _)| !name.starts_with('@')) {
        for sort in sorts {
            let wanted = shape(sort);
            let fits = |found: &[String]| {
                found.len() == wanted.len()
                    && wanted.iter().zip(found).all(|(part, found)| part == found || part == "S" || part == "T")
            };
            if !used.iter().any(|(other, found)| *other == operator && fits(found)) {
                missing.push(format!("{name}: {sort}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    for operator in [Operator::Equal, Operator::Less, Operator::LessEqual] {
        for sort in ["Bool", "Pos", "Nat", "Int", "Real", "List", "FSet", "Set", "FBag", "Bag", "C", "D"] {
            let fits = |(other, found): &(Operator, Vec<String>)| *other == operator && found[0] == sort;
            assert!(used.iter().any(fits), "{} on {sort}", operator.name());
        }
    }
}

/// A term that is held over a poll without a root would be another one afterwards.
#[test]
fn collections_at_every_poll_change_no_value() {
    let (data, _) = page();
    for (expression, expected) in [
        ("fib(17)", "1597"),
        ("toNat(fibp(big(15)))", "610"),
        ("sum1(upto(3000))", "4501500"),
        ("#({1, 2, 3} + {4}) + sum1(upto(2000) ++ upto(1000))", "2501504"),
        ("forall n: Nat. n < 2000 => n in upto(2000) || n == 0", "true"),
        ("exists x: Peano. toNat(x) == 40", "true"),
        ("exists l: List(Nat). #l == 2 && sum1(l) == 9", "true"),
        ("forall f: C -> C. exists g: C -> C. forall c: C. g(c) == f(f(c))", "true"),
        ("{ x: Nat | x < 900 && x mod 2 == 0 } * { x: Nat | x < 10 } == {0, 2, 4, 6, 8}", "true"),
    ] {
        assert_eq!(value(expression, &data, true, u64::MAX).as_deref(), Ok(expected), "{expression}");
    }
}

#[test]
fn a_million_constructors_are_built_counted_and_printed() {
    let (data, _) = page();
    assert_eq!(value("toNat(big(1000000))", &data, false, u64::MAX).as_deref(), Ok("1000000"));
    let printed = value("big(200000)", &data, false, u64::MAX).expect("a value");
    assert!(printed.starts_with("s(s(s(") && printed.len() == 600_001, "{}", printed.len());
}

#[test]
fn a_rewrite_without_end_is_given_up_after_its_steps() {
    let (data, _) = page();
    assert_eq!(value("loop + 1", &data, false, 100_000), Err(Unfinished::Steps));
    // Steps are counted one by one: below the number that a value takes there is none.
    for expression in ["1 + 1", "fac(5)", "fib(14)"] {
        let enough = (0..200_000).step_by(50_000).find(|&steps| value(expression, &data, false, steps).is_ok());
        let (mut least, mut most) = (0, enough.expect("enough steps").max(1));
        while least < most {
            let middle = (least + most) / 2;
            match value(expression, &data, false, middle) {
                Ok(_) => most = middle,
                Err(_) => least = middle + 1,
            }
        }
        assert!(least == 0 || value(expression, &data, false, least - 1).is_err(), "{expression}");
        assert!(value(expression, &data, false, least).is_ok(), "{expression}");
        assert_eq!(steps(expression, &data), least, "{expression}");
    }
    assert_eq!(value("fst(7, loop)", &data, false, 100_000).as_deref(), Ok("7"));
}
