//! The busy-forbidden lock: many threads share, seldom one excludes the others.
//!
//! After M. Laveaux, *Accelerated verification of concurrent systems*, chapter 5, table 5.2. Every member (a thread)
//! has two flags of its own. `busy` says that it is in a shared section, and only the member writes it. `forbidden`
//! says that it must not enter one, and only the thread that holds the mutex `turn` writes it. So a thread that enters
//! and leaves shared sections touches nothing but a cache line of its own:
//!
//! - enter shared: set `busy`; while `forbidden`: clear `busy`, wait, set `busy` again.
//! - leave shared: clear `busy`.
//! - enter exclusive: lock the mutex; until every member is forbidden: set `forbidden` of a member; if it is busy,
//!   clear it again.
//! - leave exclusive: clear every `forbidden`; unlock the mutex.
//!
//! # Why it excludes
//!
//! Both sides write their own flag and then read the other's, with a sequentially consistent fence between. Whichever
//! fence comes second, the thread behind it sees what the other one wrote. If that is the member, it sees `forbidden`
//! and withdraws. If that is the excluding thread, it sees `busy` and withdraws. A member that withdrew must ask again
//! *after* it set `busy` again: the loop of table 5.2 is a loop for that reason. What is written in an exclusive
//! section is seen in later shared sections, because a member that enters has read the `false` with which the excluding
//! thread released `forbidden`; and the other way round by `busy`.
//!
//! # Departures
//!
//! - *Nesting*: a member counts how deep it is; only the outermost section touches the flags. A thread that asks for
//!   the exclusive section inside a shared one would wait for itself, so [`Member::exclusive`] panics there.
//! - *Waiting*: the thesis lets a reader wait with a timed lock of the mutex, for performance only. Here readers wait
//!   at a condition variable for at most a millisecond, which has the same effect and needs no timed mutex.
//! - *Wanting*: a thread that works in long sections and leaves for an instant now and then would hardly ever be met
//!   outside. So a thread that wants to exclude says so in a counter, [`Member::is_wanted`], and a member that sees it
//!   at a good moment calls [`Member::make_way`].
//! - *Joining*: threads come and go. A member that joins while a thread excludes the others, or tries to, is forbidden
//!   from the beginning. The list of members has a mutex of its own, held only for moments, so that a thread can join
//!   while it is in a section as another member.
//! - *Sometimes*: one member that lingers in a shared section must not keep the others out of theirs, while a third
//!   waits to exclude both. The thesis clears flags "sometimes". Here the waiting thread clears all flags after about a
//!   millisecond, then after each doubling of that time.
//!
//! Cost: entering is a store, a fence and a load (about 6 ns); excluding is linear in the number of members, and waits
//! for the longest shared section.

use std::cell::Cell;
use std::sync::Arc;

use crate::sync::{AtomicBool, AtomicUsize, Backoff, Gate, Mutex, MutexGuard, Ordering, fence, locked};

/// The lock. Threads take part as [`Member`]s.
pub struct BusyForbidden {
    /// Held by the thread that excludes the others, or is on its way to it.
    turn: Mutex<()>,
    members: Mutex<Members>,
    /// How many threads are in, or on their way into, the exclusive section.
    wanted: AtomicUsize,
    gate: Gate,
}

/// The members. The mutex around them is only held for moments.
#[derive(Default)]
struct Members {
    all: Vec<Arc<Flags>>,
    /// Is a new member forbidden from the beginning?
    forbidding: bool,
}

/// Two cache lines, because processors fetch lines in pairs.
#[repr(align(128))]
struct Flags {
    busy: AtomicBool,
    forbidden: AtomicBool,
}

/// A thread's part in the lock. It can be moved to another thread, but not shared.
pub struct Member {
    lock: Arc<BusyForbidden>,
    flags: Arc<Flags>,
    depth: Cell<u32>,
}

/// A shared section; ends when it is dropped.
pub struct Shared<'m> {
    member: &'m Member,
}

/// The exclusive section; ends when it is dropped.
pub struct Exclusive<'m> {
    lock: &'m BusyForbidden,
    _turn: MutexGuard<'m, ()>,
}

impl Default for BusyForbidden {
    fn default() -> BusyForbidden {
        BusyForbidden {
            turn: Mutex::new(()),
            members: Mutex::new(Members::default()),
            wanted: AtomicUsize::new(0),
            gate: Gate::default(),
        }
    }
}

impl BusyForbidden {
    /// A lock without members.
    pub fn new() -> Arc<BusyForbidden> {
        Arc::new(BusyForbidden::default())
    }

    /// A new member.
    pub fn join(self: &Arc<BusyForbidden>) -> Member {
        let mut members = locked(&self.members);
        let forbidden = AtomicBool::new(members.forbidding);
        let flags = Arc::new(Flags { busy: AtomicBool::new(false), forbidden });
        members.all.push(flags.clone());
        Member { lock: self.clone(), flags, depth: Cell::new(0) }
    }

    /// Forbids every member that is not busy, and those that are to come; whether that was all of them.
    fn forbid_all(&self) -> bool {
        let mut members = locked(&self.members);
        members.forbidding = true;
        let mut all = true;
        for flags in &members.all {
            // Only the thread whose turn it is writes this flag, so it is as this thread left it.
            if flags.forbidden.load(Ordering::Relaxed) {
                continue;
            }
            flags.forbidden.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if flags.busy.load(Ordering::Acquire) {
                flags.forbidden.store(false, Ordering::Release);
                all = false;
            }
        }
        all
    }

    /// Waits for the thread whose turn it is, a millisecond at most; every caller checks again.
    #[cfg(not(test))]
    fn wait_while(&self, shut: impl Fn() -> bool) {
        self.gate.wait_while(shut);
    }

    /// Loom has no clock: waits as table 5.2 does, for the mutex.
    #[cfg(test)]
    fn wait_while(&self, _: impl Fn() -> bool) {
        drop(locked(&self.turn));
    }

    /// Lets every member in.
    fn allow_all(&self) {
        let mut members = locked(&self.members);
        members.forbidding = false;
        members.all.iter().for_each(|flags| flags.forbidden.store(false, Ordering::Release));
    }
}

impl Member {
    /// Enters a shared section, inside another one or not; waits while a thread excludes this one.
    #[inline]
    pub fn shared(&self) -> Shared<'_> {
        self.enter();
        Shared { member: self }
    }

    /// Is this member in a shared section?
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.depth.get() > 0
    }

    /// Is this member in exactly one shared section, which it can leave?
    #[inline]
    pub(crate) fn is_outermost(&self) -> bool {
        self.depth.get() == 1
    }

    /// Does a thread want to exclude the others? A member that works in long sections asks now and then.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.lock.wanted.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub(crate) fn enter(&self) {
        let depth = self.depth.get();
        self.depth.set(depth + 1);
        if depth == 0 {
            self.enter_outermost();
        }
    }

    #[inline]
    fn enter_outermost(&self) {
        let flags = &*self.flags;
        flags.busy.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while flags.forbidden.load(Ordering::Acquire) {
            flags.busy.store(false, Ordering::Release);
            self.lock.wait_while(|| flags.forbidden.load(Ordering::Acquire));
            flags.busy.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }

    #[inline]
    pub(crate) fn leave(&self) {
        let depth = self.depth.get() - 1;
        if depth == 0 {
            self.flags.busy.store(false, Ordering::Release);
        }
        self.depth.set(depth);
    }

    /// Outside of all sections: waits until no thread wants to exclude the others, but only for a while, because the
    /// wanting thread itself may have to wait for a member that lingers.
    pub fn make_way(&self) {
        assert!(!self.is_inside(), "a member makes way outside of its shared sections");
        const PATIENCE: u32 = if cfg!(test) { 1 } else { 20 };
        for _ in 0..PATIENCE {
            if !self.is_wanted() {
                return;
            }
            self.lock.wait_while(|| self.is_wanted());
        }
    }

    /// Enters the exclusive section: waits until every other member is outside of its shared sections.
    ///
    /// # Panics
    ///
    /// Inside a shared section, where the member would wait for itself.
    pub fn exclusive(&self) -> Exclusive<'_> {
        assert!(!self.is_inside(), "a member asks for the exclusive section inside a shared one");
        let lock = &*self.lock;
        lock.wanted.fetch_add(1, Ordering::Relaxed);
        let turn = locked(&lock.turn);
        let mut backoff = Backoff::default();
        while !lock.forbid_all() {
            if backoff.is_long() {
                lock.allow_all();
            }
            backoff.wait();
        }
        Exclusive { lock, _turn: turn }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        locked(&self.lock.members).all.retain(|flags| !Arc::ptr_eq(flags, &self.flags));
    }
}

impl Drop for Shared<'_> {
    #[inline]
    fn drop(&mut self) {
        self.member.leave();
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        self.lock.allow_all();
        self.lock.wanted.fetch_sub(1, Ordering::Relaxed);
        self.lock.gate.open();
    }
}

/// Every interleaving of a few sections, by loom.
#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;
    use crate::sync::Guarded;

    /// Threads take these turns (`s` shared, `n` nested shared, `x` exclusive); exclusive sections write, shared ones
    /// read. Loom fails when a write overlaps another access, and when a thread waits forever.
    fn model(preemptions: Option<usize>, turns: &'static [&'static str]) {
        crate::interleavings::explore(&format!("lock {turns:?}"), preemptions, move || {
            let lock = BusyForbidden::new();
            let data = Arc::new(Guarded::new(0u32));
            let work = |member: &Member, data: &Guarded<u32>, turns: &str| {
                for turn in turns.chars() {
                    match turn {
                        's' => {
                            let _shared = member.shared();
                            // SAFETY: the shared section excludes writers; loom checks it.
                            unsafe { data.read(|_| ()) };
                        }
                        'n' => {
                            let outer = member.shared();
                            let inner = member.shared();
                            drop(outer);
                            // SAFETY: still inside; loom checks it.
                            unsafe { data.read(|_| ()) };
                            drop(inner);
                        }
                        _ => {
                            let _exclusive = member.exclusive();
                            // SAFETY: the exclusive section excludes all others; loom checks it.
                            unsafe { data.write(|value| *value += 1) };
                        }
                    }
                }
            };
            let others: Vec<_> = turns[1..]
                .iter()
                .map(|turns| {
                    let (member, data) = (lock.join(), data.clone());
                    loom::thread::spawn(move || work(&member, &data, turns))
                })
                .collect();
            let member = lock.join();
            work(&member, &data, turns[0]);
            others.into_iter().for_each(|other| other.join().expect("no thread panics"));
            let written = turns.iter().map(|turns| turns.matches('x').count()).sum::<usize>();
            // SAFETY: every other thread ended.
            assert_eq!(unsafe { data.read(|value| *value as usize) }, written);
        });
    }

    #[test]
    fn a_reader_and_a_writer() {
        model(None, &["s", "x"]);
        model(None, &["ss", "x"]);
        model(None, &["n", "x"]);
    }

    #[test]
    fn a_writer_excludes_two_writers_in_a_row() {
        model(None, &["s", "xx"]);
    }

    #[test]
    fn two_writers() {
        model(None, &["x", "x"]);
        model(Some(3), &["xs", "sx"]);
    }

    #[test]
    fn two_readers_and_a_writer() {
        model(Some(3), &["s", "s", "x"]);
    }

    #[test]
    fn a_reader_and_two_writers() {
        model(Some(3), &["s", "x", "x"]);
    }
}
