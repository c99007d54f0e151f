//! What the process uses and what the machine, or the container it runs in, has left.

use std::fs;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// Resident bytes of this process now.
pub fn resident_memory() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

/// The highest number of resident bytes this process ever had; where the system does not report it, the current number.
pub fn peak_memory() -> Option<u64> {
    let high_water = fs::read_to_string("/proc/self/status").ok().and_then(|status| kilobytes_field(&status, "VmHWM:"));
    high_water.or_else(resident_memory)
}

static RELEASE: OnceLock<fn()> = OnceLock::new();

/// Says how this program's allocator gives freed memory back at once; to be called when the program begins.
pub fn set_release(release: fn()) {
    // Only the first call counts.
    let _ = RELEASE.set(release);
}

/// Gives freed memory back where less than half of a budget is left, so that it does not count against the next job.
///
/// Allocators keep freed memory for a while, in case it is needed again; a call to the allocator returns it. What
/// threads freed that have just ended follows a moment later, so the call is repeated as long as memory becomes less:
/// where it is in use, that takes some milliseconds.
pub fn release_memory(budget: Option<u64>) {
    let (Some(budget), Some(release)) = (budget, RELEASE.get()) else { return };
    let (mut least, mut idle) = (u64::MAX, 0);
    while let Some(resident) = resident_memory().filter(|&resident| resident > budget / 2)
        && idle < IDLE
    {
        idle = if resident < least { 0 } else { idle + 1 };
        least = least.min(resident);
        release();
        thread::sleep(PAUSE);
    }
}

/// How often memory must not become less for it to be in use, and how long it gets in between.
const IDLE: u32 = 5;
const PAUSE: Duration = Duration::from_millis(3);

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
    use std::sync::atomic::{AtomicU32, Ordering};

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

    #[test]
    fn memory_is_released_only_where_little_is_left() {
        static RELEASED: AtomicU32 = AtomicU32::new(0);
        set_release(|| {
            RELEASED.fetch_add(1, Ordering::Relaxed);
        });
        let resident = resident_memory().expect("this system reports its memory");
        release_memory(None);
        release_memory(Some(resident * 8));
        assert_eq!(RELEASED.load(Ordering::Relaxed), 0);
        release_memory(Some(resident));
        assert!(RELEASED.load(Ordering::Relaxed) > 0);
    }
}
