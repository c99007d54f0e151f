//! What the process uses and what the machine, or the container it runs in, has left.

use std::fs;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use crate::Limits;

/// Resident bytes of this process now.
pub fn resident_memory() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

/// The highest number of resident bytes this process ever had; where the system does not report it, the current number.
pub fn peak_memory() -> Option<u64> {
    let high_water = fs::read_to_string("/proc/self/status").ok().and_then(|status| kilobytes_field(&status, "VmHWM:"));
    high_water.or_else(resident_memory)
}

/// The longest wait for memory to be given back.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a wait takes to notice that it is over, and how many large allocations are made meanwhile.
const PAUSE: Duration = Duration::from_millis(10);
const ALLOCATIONS: usize = 2_020;
const LARGE: usize = 1 << 20;

/// A wait that frees less than this, or than a sixteenth of what it waits for, brought nothing.
const NOTICEABLE: u64 = 1 << 20;

/// Waits between jobs until freed memory is given back, so that it does not count against the next job.
///
/// Allocators give freed memory back after a delay, and look whether it is over only now and then: ours after ten
/// thousand large allocations. So many are made within some pauses, which takes a few milliseconds, because nothing is
/// written to them.
///
/// Half of the budget may always be resident. What is resident before the first job, or after a wait, is in use: only
/// growth by a sixteenth of the budget is worth the next wait. When a wait brought nothing, jobs keep what they
/// allocate (a script that grows with every assertion), and the next wait begins only after growth by a quarter, or
/// when less than an eighth of the budget is left: without room a job has no answer at all.
#[derive(Debug, Default)]
pub struct Settling {
    /// The bytes that are in use, as far as is known; none before the first job.
    kept: Option<u64>,
    /// The last wait brought nothing.
    in_vain: bool,
}

impl Settling {
    /// A wait after a part of a job that has freed what it used: nothing of that is taken to be in use.
    pub(crate) fn after_a_part() -> Settling {
        Settling { kept: Some(0), in_vain: false }
    }

    /// Waits before a job with these budgets, no longer than two seconds or half of the job's time, and until the
    /// user interrupts.
    pub fn settle(&mut self, limits: Limits, interrupted: impl Fn() -> bool) {
        let begun = Instant::now();
        let look = || (begun.elapsed(), resident_memory().unwrap_or_default());
        self.wait(limits, interrupted, look, || {
            thread::sleep(PAUSE);
            for _ in 0..ALLOCATIONS {
                black_box(Vec::<u8>::with_capacity(LARGE));
            }
        });
    }

    /// The same where `look` gives the time since the wait began and the resident bytes.
    fn wait(
        &mut self,
        limits: Limits,
        interrupted: impl Fn() -> bool,
        mut look: impl FnMut() -> (Duration, u64),
        mut pause: impl FnMut(),
    ) {
        let Some(budget) = limits.memory else { return };
        let patience = limits.time.map_or(PATIENCE, |time| PATIENCE.min(time / 2));
        let (mut elapsed, before) = look();
        let kept = self.kept.unwrap_or(before);
        let mut wanted = (budget / 2).max(kept.saturating_add(budget / 16));
        if self.in_vain {
            wanted = wanted.max(kept.saturating_add(budget / 4).min(budget / 8 * 7));
        }
        let mut resident = before;
        while resident > wanted && elapsed < patience {
            if interrupted() {
                return;
            }
            pause();
            (elapsed, resident) = look();
        }
        if before <= wanted {
            self.kept = Some(kept.min(before));
            return;
        }
        let freed = before.saturating_sub(resident);
        self.in_vain = resident > wanted && freed < NOTICEABLE.max((before - wanted) / 16);
        self.kept = Some(resident);
    }
}

/// Bytes that can still be used: the least of what the machine and the control groups around us allow. `None` where the
/// system does not report it.
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|info| kilobytes_field(&info, "MemAvailable:"));
    let container = container_headroom();
    match (machine, container) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Limit minus use, for the groups of version 2 and of version 1 as they are mounted inside a container.
fn container_headroom() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut least = None;
    let mut consider = |limit: Option<u64>, used: Option<u64>| {
        if let (Some(limit), Some(used)) = (limit, used) {
            let free = limit.saturating_sub(used);
            least = Some(least.map_or(free, |known: u64| known.min(free)));
        }
    };
    for folder in own_groups() {
        consider(number(&format!("{folder}/memory.max")), number(&format!("{folder}/memory.current")));
    }
    consider(
        number("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        number("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    );
    least
}

/// The folder of our control group and of each group around it.
fn own_groups() -> Vec<String> {
    const ROOT: &str = "/sys/fs/cgroup";
    let mut folders = vec![ROOT.to_string()];
    if let Ok(text) = fs::read_to_string("/proc/self/cgroup")
        && let Some(path) = text.lines().find_map(|line| line.strip_prefix("0::"))
    {
        let mut folder = ROOT.to_string();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            folder.push('/');
            folder.push_str(part);
            folders.push(folder.clone());
        }
    }
    folders
}

fn kilobytes_field(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn fields_are_read_in_kilobytes() {
        let text = "MemTotal:  100 kB\nMemAvailable:    12 kB\n";
        assert_eq!(kilobytes_field(text, "MemAvailable:"), Some(12 * 1024));
        assert_eq!(kilobytes_field(text, "VmHWM:"), None);
    }

    #[test]
    fn the_peak_is_at_least_what_was_written() {
        let block = vec![1u8; 32 << 20];
        let peak = peak_memory().expect("this system reports its memory");
        assert!(peak >= block.len() as u64, "{peak}");
    }
    const BUDGET: u64 = 1000 << 20;

    /// Waits before a job, when so many megabytes are resident at the beginning and so many after a second, and returns
    /// how long.
    fn waited(settling: &mut Settling, limits: Limits, resident: [u64; 2], interrupted_at: Duration) -> Duration {
        let now = Cell::new(Duration::ZERO);
        let look = || (now.get(), resident[usize::from(now.get() >= Duration::from_secs(1))] << 20);
        settling.wait(limits, || now.get() >= interrupted_at, look, || now.set(now.get() + PAUSE));
        now.get()
    }

    /// A job was started when nothing was resident.
    fn after_a_job() -> Settling {
        Settling { kept: Some(0), in_vain: false }
    }

    #[test]
    fn the_first_job_waits_for_nothing() {
        let (limits, never) = (Limits { time: None, memory: Some(BUDGET) }, Duration::MAX);
        let mut settling = Settling::default();
        assert_eq!(waited(&mut settling, limits, [900, 900], never), Duration::ZERO);
        assert_eq!(waited(&mut settling, limits, [970, 900], never), Duration::from_secs(1));
    }

    #[test]
    fn freed_memory_is_waited_for() {
        let (limits, never) = (Limits { time: None, memory: Some(BUDGET) }, Duration::MAX);
        let mut settling = after_a_job();
        assert_eq!(waited(&mut settling, limits, [400, 400], never), Duration::ZERO, "half of the budget is free");
        for _ in 0..3 {
            assert_eq!(waited(&mut settling, limits, [900, 450], never), Duration::from_secs(1));
        }
        // Something was freed and something is in use, for which the next job does not wait.
        assert_eq!(waited(&mut settling, limits, [900, 600], never), PATIENCE);
        assert_eq!(waited(&mut settling, limits, [660, 600], never), Duration::ZERO);
        assert_eq!(waited(&mut settling, limits, [700, 600], never), Duration::from_secs(1));
        let unlimited = Limits { time: None, memory: None };
        assert_eq!(waited(&mut settling, unlimited, [900, 900], never), Duration::ZERO);
    }

    #[test]
    fn a_wait_that_brought_nothing_is_not_repeated() {
        let (limits, never) = (Limits { time: None, memory: Some(BUDGET) }, Duration::MAX);
        let mut settling = after_a_job();
        assert_eq!(waited(&mut settling, limits, [600, 600], never), PATIENCE);
        for resident in (601..=850).step_by(3) {
            assert_eq!(waited(&mut settling, limits, [resident, resident], never), Duration::ZERO);
        }
        // Where little is left, a smaller growth is worth a wait.
        let mut nearly_full = Settling { kept: Some(700 << 20), in_vain: true };
        assert_eq!(waited(&mut nearly_full, limits, [870, 870], never), Duration::ZERO);
        assert_eq!(waited(&mut nearly_full, limits, [880, 700], never), Duration::from_secs(1));
        let mut full = Settling { kept: Some(900 << 20), in_vain: true };
        assert_eq!(waited(&mut full, limits, [960, 960], never), Duration::ZERO);
        assert_eq!(waited(&mut full, limits, [980, 980], never), PATIENCE);
        assert_eq!(waited(&mut full, limits, [1030, 1030], never), Duration::ZERO);
        // A large job has freed its memory since; then waiting brings something again.
        assert_eq!(waited(&mut settling, limits, [990, 620], never), Duration::from_secs(1));
        assert_eq!(waited(&mut settling, limits, [720, 610], never), Duration::from_secs(1));
    }

    #[test]
    fn a_wait_ends_with_the_time_of_its_job_and_when_the_user_interrupts() {
        let mut settling = after_a_job();
        let limits = Limits { time: Some(Duration::from_millis(600)), memory: Some(BUDGET) };
        assert_eq!(waited(&mut settling, limits, [900, 450], Duration::MAX), Duration::from_millis(300));
        let mut settling = after_a_job();
        let limits = Limits { time: None, memory: Some(BUDGET) };
        let pressed = Duration::from_millis(500);
        assert_eq!(waited(&mut settling, limits, [900, 450], pressed), pressed);
        assert_eq!(waited(&mut settling, limits, [900, 450], Duration::ZERO), Duration::ZERO);
        assert_eq!(waited(&mut settling, limits, [900, 450], Duration::MAX), Duration::from_secs(1));
    }

    #[test]
    fn an_interruption_is_noticed_soon() {
        let begun = Instant::now();
        let pressed = Duration::from_millis(100);
        let noticed = Cell::new(Duration::ZERO);
        let interrupted = || {
            let pause = begun.elapsed() - noticed.replace(begun.elapsed());
            assert!(pause < Duration::from_secs(1), "a pause of {pause:?}");
            begun.elapsed() >= pressed
        };
        // More is resident than one byte.
        after_a_job().settle(Limits { time: None, memory: Some(2) }, interrupted);
        assert!(begun.elapsed() >= pressed && begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    }
}
