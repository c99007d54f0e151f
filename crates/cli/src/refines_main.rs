//! The program `refines`: FDR's command, answered by Trefoil.

fn main() -> std::process::ExitCode {
    trefoil_cli::refines()
}
