//! Smaller processes that are still wrong, so that a failure can be read.

use super::tree::Process;

/// Replaces parts by smaller ones as long as the test still fails, that is, `fails` stays true.
pub fn shrink(mut process: Process, mut fails: impl FnMut(&Process) -> bool) -> Process {
    'again: loop {
        for candidate in smaller(&process) {
            if fails(&candidate) {
                process = candidate;
                continue 'again;
            }
        }
        return process;
    }
}

/// The same for two at once.
pub fn shrink_pair(
    mut pair: (Process, Process),
    mut fails: impl FnMut(&Process, &Process) -> bool,
) -> (Process, Process) {
    loop {
        let first = shrink(pair.0.clone(), |first| fails(first, &pair.1));
        let second = shrink(pair.1.clone(), |second| fails(&first, second));
        if (&first, &second) == (&pair.0, &pair.1) {
            return pair;
        }
        pair = (first, second);
    }
}

/// Every process that is smaller by one step: a part in place of the whole, a constant in place of a part, a copy left
/// out.
fn smaller(process: &Process) -> Vec<Process> {
    let mut all: Vec<Process> = process.parts().into_iter().cloned().collect();
    for constant in [Process::Stop, Process::Skip] {
        if process.size() > 1 {
            all.push(constant);
        }
    }
    match process {
        Process::Input { chosen, branches } if branches.len() > 1 => {
            for left_out in 0..branches.len() {
                let mut branches = branches.clone();
                branches.remove(left_out);
                all.push(Process::Input { chosen: *chosen, branches });
            }
        }
        Process::Chaos(events) | Process::Run(events) => {
            for event in events.members() {
                let fewer = events.without(super::Events::one(event));
                let smaller =
                    if matches!(process, Process::Run(_)) { Process::Run(fewer) } else { Process::Chaos(fewer) };
                all.push(smaller);
            }
        }
        _ => {}
    }
    for part in 0..process.parts().len() {
        for candidate in smaller(process.parts()[part]) {
            let mut whole = process.clone();
            *whole.parts_mut()[part] = candidate;
            all.push(whole);
        }
    }
    all
}
