//! Values of options: names of tables, sizes, times.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use trefoil_session::Choice;
use trefoil_session::check::{
    Algorithm, Decompose, EngineChoice, Fairness, GameSolver, Order, Preprocess, Store, SymmetryUse,
};

/// A value of a registry: only its names are accepted, and help lists them with their lines.
pub(super) fn choices(table: &'static [Choice]) -> impl TypedValueParser<Value = &'static str> {
    let values = table.iter().map(|choice| PossibleValue::new(choice.name).help(choice.about));
    PossibleValuesParser::new(values).map(move |chosen| {
        let found = table.iter().find(|choice| choice.name == chosen);
        found.expect("the parser accepts only names of the table").name
    })
}

pub(super) fn fairness(name: &'static str) -> Fairness {
    Fairness::ALL.into_iter().find(|fairness| fairness.name() == name).expect("the table has the names of fairness")
}

pub(super) fn game_solver(name: &'static str) -> GameSolver {
    GameSolver::ALL.into_iter().find(|solver| solver.name() == name).expect("the table has the names of the solvers")
}

pub(super) fn engine(name: &'static str) -> EngineChoice {
    EngineChoice::ALL.into_iter().find(|engine| engine.name() == name).expect("the table has the names of the engines")
}

pub(super) fn algorithm(name: &'static str) -> Algorithm {
    let found = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name);
    found.expect("the table has the names of the algorithms")
}

pub(super) fn order(name: &'static str) -> Order {
    Order::ALL.into_iter().find(|order| order.name() == name).expect("the table has the names of the orders")
}

pub(super) fn preprocess(name: &'static str) -> Preprocess {
    let found = Preprocess::ALL.into_iter().find(|preprocess| preprocess.name() == name);
    found.expect("the table has the names of what can be minimised")
}

/// How a specification is taken apart: by a partition that is chosen when none follows.
pub(super) fn parse_decompose(text: &str) -> Result<Decompose, String> {
    Ok(if text.is_empty() { Decompose::Chosen } else { Decompose::By(text.to_string()) })
}

/// Which symmetries are used.
pub(super) fn parse_symmetry(text: &str) -> Result<SymmetryUse, String> {
    Ok(match text {
        "auto" => SymmetryUse::Automatic,
        "off" => SymmetryUse::Off,
        types => {
            let mut names: Vec<String> = Vec::new();
            for name in types.split(',').map(str::trim) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_string());
                }
            }
            SymmetryUse::Types(names)
        }
    })
}

/// Bytes: a number with an optional unit.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, f64)] = &[
        ("ki", 1024.0),
        ("mi", 1048576.0),
        ("gi", 1073741824.0),
        ("ti", 1099511627776.0),
        ("k", 1e3),
        ("m", 1e6),
        ("g", 1e9),
        ("t", 1e12),
        ("", 1.0),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let plain = lower.strip_suffix('b').unwrap_or(&lower);
    let bytes = with_unit(plain, UNITS).ok_or("expected a size such as 512M, 2G or 1.5Gi")?;
    if bytes < 1.0 { Err("a budget must be positive".into()) } else { Ok(bytes as u64) }
}

/// How states are remembered.
pub(super) fn parse_store(text: &str) -> Result<Store, String> {
    match text.split_once(':') {
        None if text == "exact" => Ok(Store::Exact),
        None if text == "hash-compact" => Ok(Store::HashCompact),
        None if text == "bitstate" => Ok(Store::Bitstate { bytes: 64 << 20 }),
        Some(("bitstate", size)) => Ok(Store::Bitstate { bytes: parse_size(size)? }),
        _ => Err("expected exact, hash-compact, bitstate or bitstate:SIZE".to_string()),
    }
}

/// A time: a number with an optional unit.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, f64)] = &[("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let seconds = with_unit(text.trim(), UNITS).ok_or("expected a time such as 30, 1.5s, 10m or 2h")?;
    if seconds == 0.0 {
        return Err("a budget must be positive".into());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| "this time is too long".into())
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.trim_end();
        let digits = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value = number.parse::<f64>().ok().filter(|_| digits)? * factor;
        value.is_finite().then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trefoil_session::check;
    use trefoil_session::lts::{ALGORITHMS, MODELS, PREPROCESSING, SEARCHES};

    #[test]
    fn every_name_of_a_table_is_known() {
        for table in [check::ALGORITHMS, ALGORITHMS] {
            table.iter().for_each(|choice| assert_eq!(algorithm(choice.name).name(), choice.name));
        }
        check::GAME_SOLVERS.iter().for_each(|choice| assert_eq!(game_solver(choice.name).name(), choice.name));
        check::ENGINES.iter().for_each(|choice| assert_eq!(engine(choice.name).name(), choice.name));
        SEARCHES.iter().for_each(|choice| assert_eq!(order(choice.name).name(), choice.name));
        PREPROCESSING.iter().for_each(|choice| assert_eq!(preprocess(choice.name).name(), choice.name));
        MODELS.iter().for_each(|choice| assert!(trefoil_session::lts::Comparison::named(choice.name).is_some()));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("1G"), Ok(1_000_000_000));
        assert_eq!(parse_size("1.5Gi"), Ok(1_610_612_736));
        assert_eq!(parse_size("64 MB"), Ok(64_000_000));
        assert_eq!(parse_size("4096"), Ok(4096));
        for wrong in ["", "G", "-1", "1X", "nan", "inf", "0", "1e400"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(parse_duration("soon").is_err() && parse_duration("0").is_err());
    }
}
