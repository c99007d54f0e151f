//! The command line of Trefoil.

mod answers;
mod arguments;
mod cspm;
mod cspm_eval;
mod exit;
mod groups;
mod interrupt;
mod lts;
mod run;
mod terminal;
mod text;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Command, Trefoil};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = Trefoil::parse();
    match arguments.command {
        Command::Lts(command) => lts::run(command, arguments.common),
        Command::Cspm(command) => cspm::run(command, arguments.common),
        Command::Group { generators, stabilise } => groups::group(&generators, stabilise.as_deref(), arguments.common),
        Command::Automorphisms { file, labels } => groups::automorphisms(&file, labels, arguments.common),
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

fn write_out(bytes: &[u8]) -> ExitCode {
    match terminal::print(&String::from_utf8_lossy(bytes)) {
        Ok(()) => ExitCode::from(exit::HOLDS),
        Err(error) => {
            terminal::complain(&format!("error: standard output cannot be written: {error}\n"));
            ExitCode::from(exit::WRONG)
        }
    }
}
