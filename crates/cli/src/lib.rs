//! The command line of Trefoil: one library behind the programs `trefoil` and `refines`.

mod allocator;
mod answers;
mod arguments;
mod automaton;
mod check;
mod cspm;
mod cspm_eval;
mod decompose;
mod evaluating;
mod exit;
mod games;
mod groups;
mod interrupt;
mod look;
mod lts;
mod mcrl2;
mod model_symmetry;
mod prompt;
mod refines;
mod run;
mod schema;
mod spin;
mod symmetry;
mod terminal;
mod text;
mod trace;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Command, Output, Trefoil};
use trefoil_session::automata::AutomatonTask;

/// The program `trefoil`.
pub fn trefoil() -> ExitCode {
    trefoil_control::set_release(allocator::release);
    checked(run_trefoil())
}

/// An exit code, or that of an error when results could not be written.
fn checked(code: ExitCode) -> ExitCode {
    if terminal::output_failed() { ExitCode::from(exit::WRONG) } else { code }
}

fn run_trefoil() -> ExitCode {
    // `refines` reads its own options, some of which have the names of ours.
    let given: Vec<OsString> = std::env::args_os().collect();
    if given.get(1).is_some_and(|command| command == "refines") {
        return refines::run("trefoil refines", &given[2..]);
    }
    let arguments = match Trefoil::try_parse_from(arguments::joined(std::env::args_os())) {
        Ok(arguments) => arguments,
        Err(said) => return say(&said),
    };
    if let Some(why) = arguments.refused() {
        return say(&Trefoil::command().error(clap::error::ErrorKind::ArgumentConflict, why));
    }
    match arguments.command {
        Command::Check(command) => check::run(command, arguments.common),
        Command::Refines { arguments } => refines::run("trefoil refines", &arguments),
        Command::Graph { looking, picture } => look::graph(looking, picture, arguments.common),
        Command::Structure { looking, output, groups } => look::structure(looking, output, groups, arguments.common),
        Command::Trace(tracing) => trace::run(tracing, arguments.common),
        Command::Symmetry(symmetries) => symmetry::run(&symmetries, arguments.common),
        Command::Lts(command) => lts::run(command, arguments.common),
        Command::Game(command) => games::run(command, arguments.common),
        Command::Cspm(command) => cspm::run(command, arguments.common),
        Command::Mcrl2(command) => mcrl2::run(command, arguments.common),
        Command::Group { generators, stabilise } => groups::group(&generators, stabilise.as_deref(), arguments.common),
        Command::Automorphisms { file, labels } => groups::automorphisms(&file, labels, arguments.common),
        Command::Automaton { file, claim, ltl, negate, output, direction } => {
            let form = match arguments.common.format {
                Output::Svg => Some("svg"),
                Output::Dot => Some("dot"),
                _ => None,
            };
            automaton::run(AutomatonTask { file, claim, ltl, negate, form, direction, output }, arguments.common)
        }
        Command::Matrix => matrix(arguments.common.format),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Trefoil::command(), "trefoil", &mut script);
            write_out(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            manual(&mut page).expect("writing to memory does not fail");
            write_out(&page)
        }
    }
}

/// Help and the version on standard output, a misuse on standard error.
fn say(said: &clap::Error) -> ExitCode {
    let coloured = if said.use_stderr() { terminal::colour_err() } else { terminal::colour_out() };
    let text = said.render();
    let text = if coloured { text.ansi().to_string() } else { text.to_string() };
    match said.use_stderr() {
        true => terminal::complain(&text),
        false => drop(terminal::print(&text)),
    }
    ExitCode::from(if said.use_stderr() { exit::WRONG } else { exit::HOLDS })
}

/// The program `refines`, for scripts that call FDR's.
pub fn refines() -> ExitCode {
    trefoil_control::set_release(allocator::release);
    let given: Vec<OsString> = std::env::args_os().skip(1).collect();
    checked(refines::run("refines", &given))
}

/// The manual page: the program, then every command with its options.
fn manual(out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut program = Trefoil::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(out)?;
    program.get_subcommands().try_for_each(|command| manual_section(command, out))
}

fn manual_section(command: &clap::Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    if command.get_name() == "help" {
        return Ok(());
    }
    writeln!(out, ".SH \"{}\"", command.get_bin_name().unwrap_or(command.get_name()).to_uppercase())?;
    let page = clap_mangen::Man::new(command.clone());
    page.render_description_section(&mut *out)?;
    page.render_synopsis_section(&mut *out)?;
    page.render_options_section(&mut *out)?;
    command.get_subcommands().try_for_each(|inner| manual_section(inner, out))
}

/// The table of engines.
fn matrix(format: Output) -> ExitCode {
    let matrix = trefoil_session::check::matrix();
    let text = match format {
        Output::Json => {
            let told = serde_json::to_value(matrix).expect("reports are plain data");
            let mut document = serde_json::json!({
                "schema": schema::VERSION,
                "trefoil": env!("CARGO_PKG_VERSION"),
                "command": "matrix",
            });
            if let (Some(document), serde_json::Value::Object(told)) = (document.as_object_mut(), told) {
                document.extend(told);
            }
            let text = serde_json::to_string_pretty(&document).expect("a document of plain data") + "\n";
            schema::check(&text);
            text
        }
        Output::Text | Output::Junit | Output::Sarif | Output::Svg | Output::Dot => matrix.markdown(),
    };
    write_out(text.as_bytes())
}

fn write_out(bytes: &[u8]) -> ExitCode {
    terminal::print(&String::from_utf8_lossy(bytes));
    ExitCode::from(exit::HOLDS)
}
