//! Diagnostics for people, with the source lines, and for programs, as plain data.

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use crate::diagnostic::{Diagnostic, Label, Place, Severity};
use crate::files::{FileId, Sources, Span};

/// The diagnostic as text for a terminal, with a newline at its end.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut report = Group::with_title(level.primary_title(printable(&diagnostic.message)).id(diagnostic.code));
    report = report.elements(excerpts(&diagnostic.labels, sources));
    for note in &diagnostic.notes {
        report = report.element(Level::NOTE.message(printable(note)));
    }
    if let Some(help) = &diagnostic.help {
        report = report.element(Level::HELP.message(printable(help)));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.render(&[report]);
    text.push('\n');
    text
}

/// One element per place, labels of one file together, the primary label's file first.
fn excerpts<'a>(labels: &'a [Label], sources: &'a Sources) -> Vec<Element<'a>> {
    let mut elements = Vec::new();
    let mut shown: Vec<FileId> = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        match &label.place {
            Place::File(name) => elements.push(Origin::path(name.as_str()).into()),
            Place::Line(line) => {
                let snippet = Snippet::source(line.text.as_str()).path(line.file.as_str()).line_start(line.number);
                elements.push(snippet.annotation(annotation(label, index, line.range.clone())).into());
            }
            Place::Span(span) if !shown.contains(&span.file) => {
                shown.push(span.file);
                let file = sources.file(span.file);
                let here = || {
                    labels.iter().enumerate().filter_map(|(index, label)| match &label.place {
                        Place::Span(other) if other.file == span.file => Some((index, label, other.range())),
                        _ => None,
                    })
                };
                // The renderer looks at all it is given, so it gets the lines of the labels and what is between them.
                let first = here().map(|(_, _, range)| range.start).min().unwrap_or(0);
                let last = here().map(|(_, _, range)| range.end).max().unwrap_or(0);
                let (line_start, lines) = file.lines_around(first..last);
                let lines = if lines.len() > LONGEST_EXCERPT { around(file.text(), first, lines) } else { lines };
                let inside = |at: usize| at.clamp(lines.start, lines.end) - lines.start;
                let moved = |range: std::ops::Range<usize>| inside(range.start)..inside(range.end);
                let annotations = here().map(|(index, label, range)| annotation(label, index, moved(range)));
                let snippet = Snippet::source(&file.text()[lines.clone()]).path(file.name()).line_start(line_start);
                elements.push(snippet.annotations(annotations).into());
            }
            Place::Span(_) => {}
        }
    }
    elements
}

/// Longer excerpts are cut.
const LONGEST_EXCERPT: usize = 20_000;
const BEFORE: usize = 40;
const BEHIND: usize = 120;

/// The part of long lines around a place.
fn around(text: &str, place: usize, lines: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let boundary = |place: usize| (0..=place).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let before = boundary(place.saturating_sub(BEFORE)).max(lines.start);
    let behind = boundary((place + BEHIND).min(lines.end));
    // One line, so that its number stays right.
    let start = text[before..place].rfind('\n').map_or(before, |newline| before + newline + 1);
    let end = text[place..behind].find('\n').map_or(behind, |newline| place + newline);
    start..end
}

fn annotation(label: &Label, index: usize, range: std::ops::Range<usize>) -> Annotation<'_> {
    let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
    let annotation = kind.span(range);
    if label.text.is_empty() { annotation } else { annotation.label(printable(&label.text)) }
}

/// Text from a user's file may hold anything; control characters must not reach a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A diagnostic as plain data.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Report {
    /// Its stable code.
    pub code: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The mistake.
    pub message: String,
    /// Where; the first is the primary place.
    pub places: Vec<ReportedPlace>,
    /// Further facts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A place as plain data; lines and columns from 1, absent when the whole file is meant.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct ReportedPlace {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line of the place's first character.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column of the place's first character.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The remark at the place.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl ReportedPlace {
    /// Where a span begins.
    pub fn of(span: Span, sources: &Sources) -> ReportedPlace {
        let file = sources.file(span.file);
        let (line, column) = file.line_column(span.start);
        ReportedPlace { file: file.name().to_string(), line: Some(line), column: Some(column), text: String::new() }
    }
}

impl Report {
    /// The diagnostic as plain data.
    pub fn new(diagnostic: &Diagnostic, sources: &Sources) -> Report {
        let places = diagnostic.labels.iter().map(|label| {
            let (file, place) = match &label.place {
                Place::File(name) => (name.clone(), None),
                Place::Line(line) => (line.file.clone(), Some((line.number, line.column))),
                Place::Span(span) => {
                    let file = sources.file(span.file);
                    (file.name().to_string(), Some(file.line_column(span.start)))
                }
            };
            ReportedPlace { file, line: place.map(|p| p.0), column: place.map(|p| p.1), text: label.text.clone() }
        });
        Report {
            code: diagnostic.code.to_string(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            places: places.collect(),
            notes: diagnostic.notes.clone(),
            help: diagnostic.help.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Line;

    #[test]
    fn a_span_is_shown_with_its_line_and_reported_with_its_numbers() {
        let mut sources = Sources::default();
        let file = sources.add("buffer.csp", "channel a\nP = b -> P\n");
        let diagnostic =
            Diagnostic::error("X001", "`b` is not defined", Place::Span(Span { file, start: 14, end: 15 }))
                .seen("no such name")
                .help("did you mean `a`?");
        let text = render(&diagnostic, &sources, false);
        for part in ["error[X001]", "buffer.csp:2:5", "P = b -> P", "^ no such name", "help: did you mean `a`?"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let report = Report::new(&diagnostic, &sources);
        assert_eq!((report.places[0].line, report.places[0].column), (Some(2), Some(5)));
    }

    #[test]
    fn a_streamed_line_is_shown_with_its_number() {
        let line = Line::cut("big.aut", 70_001, b"(1,\"a\",x)", 7..8);
        let diagnostic = Diagnostic::error("X002", "a state number was expected", Place::Line(line));
        let text = render(&diagnostic, &Sources::default(), false);
        assert!(text.contains("big.aut:70001:8"), "{text}");
        assert!(text.contains("(1,\"a\",x)"), "{text}");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let diagnostic = Diagnostic::error("X003", "label \u{1b}[31m", Place::File("f".into()));
        assert!(!render(&diagnostic, &Sources::default(), false).contains('\u{1b}'));
    }
}
