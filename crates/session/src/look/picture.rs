//! Pictures in files: which kind a name promises, and how it is written.
//!
//! A picture is an SVG document or a text in DOT until it is written; a file named `.png` gets the pixels of the
//! document.

use std::path::Path;

use trefoil_control::{Control, Stopped};
use trefoil_draw::{Graph, Options, Trouble, png};
use trefoil_source::{Diagnostic, Place};

use crate::problem::{CANNOT_WRITE, TOO_LARGE_TO_DRAW};
use crate::{Problem, save};

/// The kind of picture that is chosen or that a name promises: `svg`, `png` or `dot`. A name that promises another kind
/// of file is refused.
pub(crate) fn format_of(output: Option<&Path>, chosen: Option<&'static str>) -> Result<&'static str, Problem> {
    let extension = output.and_then(Path::extension).and_then(|extension| extension.to_str());
    match (chosen, extension.map(str::to_ascii_lowercase).as_deref()) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some("dot" | "gv")) => Ok("dot"),
        (None, Some("png")) => Ok("png"),
        (None, Some("svg") | None) => Ok("svg"),
        (None, Some(other)) => {
            let place = Place::File(output.map_or_else(String::new, |output| output.display().to_string()));
            let message = format!("a picture is not written as `.{other}`");
            let help = match other {
                "pdf" => "write .svg, which browsers show and print",
                _ => "name the file .svg, .png, .dot or .gv, or choose the kind of picture with --format svg or dot",
            };
            Err(Diagnostic::error(CANNOT_WRITE, message, place).help(help).into())
        }
    }
}

/// A graph as a document of this kind, or why it is too large for one.
pub(crate) fn drawn(
    graph: &Graph,
    format: &str,
    options: Options,
    control: &Control,
) -> Result<Result<String, String>, Stopped> {
    if format == "dot" {
        return Ok(Ok(trefoil_draw::dot(graph)));
    }
    match trefoil_draw::draw(graph, options, control) {
        Ok(drawn) => Ok(Ok(drawn.svg())),
        Err(Trouble::Stopped(stopped)) => Err(stopped),
        Err(trouble) => Ok(Err(trouble.to_string())),
    }
}

/// Draws a graph into a file of this kind.
pub(crate) fn draw_to(
    output: &Path,
    graph: &Graph,
    format: &str,
    options: Options,
    control: &Control,
) -> Result<(), Problem> {
    let picture = drawn(graph, format, options, control)?.map_err(|why| too_large(output, why))?;
    save_picture(output, &picture, format, control)
}

fn too_large(output: &Path, why: String) -> Diagnostic {
    Diagnostic::error(TOO_LARGE_TO_DRAW, why, Place::File(output.display().to_string()))
}

/// Writes a document of [`drawn`] to a file of this kind.
pub(crate) fn save_picture(output: &Path, picture: &str, format: &str, control: &Control) -> Result<(), Problem> {
    if format != "png" {
        return save(output, picture, control);
    }
    let pixels = png(picture).map_err(|why| too_large(output, why.to_string()).help("name the file .svg"))?;
    save(output, pixels, control)
}

/// Writes a chart, an SVG document, to a file named `.svg` or `.png`.
pub fn save_chart(output: &Path, chart: &str, control: &Control) -> Result<(), Problem> {
    save_picture(output, chart, format_of(Some(output), None)?, control)
}
