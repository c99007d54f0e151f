//! The program `refines`: FDR's command, answered by Trefoil.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    trefoil_cli::refines()
}
