//! The program `trefoil`.

fn main() -> std::process::ExitCode {
    trefoil_cli::trefoil()
}
