//! The schema of reports, and whether a document fits it.
//!
//! `docs/report.schema.json` is a JSON Schema. Builds with debug assertions, the tests among them, hold every document
//! that they print against it, so that a report that does not fit ends the program with the place at which it does not.
//!
//! The schema uses a small part of the language (draft 2020-12), evaluated here; a keyword that is not known is
//! an error of the schema. A crate that evaluates all of the language would bring some fifty others.

#[cfg(any(test, debug_assertions))]
use serde_json::Value;

/// The version of the reports.
pub(crate) const VERSION: u32 = 1;

#[cfg(any(test, debug_assertions))]
const SCHEMA: &str = include_str!("../../../docs/report.schema.json");

/// Ends the program if a document does not fit the schema; only where debug assertions are on.
pub(crate) fn check(_document: &str) {
    #[cfg(debug_assertions)]
    {
        let document: Value = serde_json::from_str(_document).expect("a document is JSON");
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        if let Err(why) = fits(&document, &schema, &schema, "$") {
            panic!("a report does not fit docs/report.schema.json: {why}");
        }
    }
}

/// Whether a value fits a schema; where not, says at which place.
#[cfg(any(test, debug_assertions))]
fn fits(value: &Value, schema: &Value, root: &Value, place: &str) -> Result<(), String> {
    let wrong = |what: String| Err(format!("{place}: {what}"));
    let Some(keywords) = schema.as_object() else { return wrong("a schema is an object".into()) };
    for (keyword, wanted) in keywords {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = wanted.as_str().and_then(|text| text.strip_prefix('#')).unwrap_or_default();
                let Some(target) = root.pointer(pointer) else { return wrong(format!("no definition {wanted}")) };
                fits(value, target, root, place)?;
            }
            "const" if wanted != value => return wrong(format!("{value} is not {wanted}")),
            "enum" if !wanted.as_array().is_some_and(|all| all.contains(value)) => {
                return wrong(format!("{value} is none of {wanted}"));
            }
            "const" | "enum" => {}
            "type" => {
                let one = |name: &Value| has_type(value, name.as_str().unwrap_or_default());
                let good = wanted.as_array().map_or_else(|| one(wanted), |names| names.iter().any(one));
                if !good {
                    return wrong(format!("{} is not of type {wanted}", short(value)));
                }
            }
            "minimum" => {
                if let (Some(number), Some(least)) = (value.as_f64(), wanted.as_f64())
                    && number < least
                {
                    return wrong(format!("{number} is less than {least}"));
                }
            }
            "minItems" | "maxItems" => {
                let (count, bound) = (value.as_array().map(Vec::len), wanted.as_u64().unwrap_or(0) as usize);
                if count.is_some_and(|count| if keyword == "minItems" { count < bound } else { count > bound }) {
                    return wrong(format!("{keyword} is {bound}"));
                }
            }
            "required" => {
                let names = wanted.as_array().into_iter().flatten().filter_map(Value::as_str);
                if let Some(object) = value.as_object()
                    && let Some(missing) = names.into_iter().find(|name| !object.contains_key(*name))
                {
                    return wrong(format!("`{missing}` is missing"));
                }
            }
            "properties" => {
                for (name, inner) in wanted.as_object().into_iter().flatten() {
                    if let Some(own) = value.get(name) {
                        fits(own, inner, root, &format!("{place}.{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties");
                for (name, own) in value.as_object().into_iter().flatten() {
                    if known.and_then(|known| known.get(name)).is_none() {
                        fits(own, wanted, root, &format!("{place}.{name}"))?;
                    }
                }
            }
            "items" => {
                for (at, own) in value.as_array().into_iter().flatten().enumerate() {
                    fits(own, wanted, root, &format!("{place}[{at}]"))?;
                }
            }
            "anyOf" => {
                let tried: Vec<String> = wanted
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map_while(|inner| fits(value, inner, root, place).err())
                    .collect();
                if wanted.as_array().is_some_and(|all| all.len() == tried.len()) {
                    return wrong(format!("fits none: {}", tried.join("; ")));
                }
            }
            other => return wrong(format!("the keyword `{other}` of the schema is not known")),
        }
    }
    Ok(())
}

#[cfg(any(test, debug_assertions))]
fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // Counts beyond 64 bits are read as floating-point numbers.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

#[cfg(any(test, debug_assertions))]
fn short(value: &Value) -> String {
    trefoil_session::shortened(&value.to_string(), 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fitting(value: &Value) -> Result<(), String> {
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        fits(value, &schema, &schema, "$")
    }

    #[test]
    fn documents_that_do_not_fit_are_rejected_with_their_place() {
        let good = json!({ "schema": 1, "trefoil": "0.1.0", "command": "lts info", "results": [{ "seconds": 0.5 }] });
        assert_eq!(fitting(&good), Ok(()));
        for (pointer, value, place) in [
            ("/schema", json!(2), "$.schema"),
            ("/results/0/seconds", json!("soon"), "$.results[0].seconds"),
            ("/results/0/seconds", json!(-1), "less than 0"),
            ("/results", json!({}), "is not of type \"array\""),
            ("/results/0", json!({ "verdict": "perhaps" }), "$.results[0].verdict"),
            ("/results/0", json!({ "diagnostics": [{ "code": "S001" }] }), "is missing"),
            (
                "/results/0",
                json!({ "system": { "labels": [], "states": [], "edges": [[1, 2]], "initial": null } }),
                "minItems",
            ),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).expect("a place in the document") = value;
            let why = fitting(&bad).expect_err(pointer);
            assert!(why.contains(place), "{pointer}: {why}");
        }
        let mut bad = good.clone();
        bad.as_object_mut().expect("an object").remove("trefoil");
        assert!(fitting(&bad).is_err_and(|why| why.contains("`trefoil` is missing")));
    }

    /// Every definition is used, and every reference has its definition.
    #[test]
    fn the_schema_is_whole() {
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        for name in schema["$defs"].as_object().expect("definitions").keys() {
            assert!(SCHEMA.contains(&format!("\"#/$defs/{name}\"")), "{name} is not used");
        }
        for pointer in SCHEMA.split("\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(schema.pointer(pointer).is_some(), "{pointer}");
        }
    }
}
