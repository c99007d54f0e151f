//! Generalised Büchi automata with marks on their edges.
//!
//! An automaton reads an infinite sequence of letters; a letter says which propositions hold. An edge may be taken at a
//! letter that its [`Cube`] admits, and carries a set of marks. A run is accepting when each mark of the automaton
//! occurs infinitely often on it; an automaton without marks accepts whenever it has an infinite run. One state may be
//! its end: a run that comes there is accepted whatever follows.

/// The propositions that must hold, and those that must not, of the first 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cube {
    /// These must hold.
    pub yes: u64,
    /// These must not.
    pub no: u64,
}

impl Cube {
    /// Admits every letter.
    pub const ALL: Cube = Cube { yes: 0, no: 0 };

    /// One proposition that must hold, or must not.
    pub fn literal(proposition: u32, holds: bool) -> Cube {
        let bit = 1 << proposition;
        if holds { Cube { yes: bit, no: 0 } } else { Cube { yes: 0, no: bit } }
    }

    /// Does it admit a letter, given as the set of propositions that hold?
    #[inline]
    pub fn admits(self, letter: u64) -> bool {
        self.yes & !letter == 0 && self.no & letter == 0
    }

    /// Does it admit a letter in which some propositions have no value? Nothing where that depends on one of them.
    pub fn admits_partly(self, letter: u64, undefined: u64) -> Option<bool> {
        if self.yes & !letter & !undefined != 0 || self.no & letter & !undefined != 0 {
            return Some(false);
        }
        ((self.yes | self.no) & undefined == 0).then_some(true)
    }

    /// The letters that both admit; nothing when there are none.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let both = Cube { yes: self.yes | other.yes, no: self.no | other.no };
        (both.yes & both.no == 0).then_some(both)
    }

    /// Does it admit every letter that the other one admits?
    pub fn covers(self, other: Cube) -> bool {
        self.yes & !other.yes == 0 && self.no & !other.no == 0
    }

    /// As text: `p && !q`, or `true`.
    pub fn text(self, name: &dyn Fn(u32) -> String) -> String {
        let mut parts = Vec::new();
        for proposition in 0..64 {
            if self.yes >> proposition & 1 == 1 {
                parts.push(name(proposition));
            }
            if self.no >> proposition & 1 == 1 {
                parts.push(format!("!{}", name(proposition)));
            }
        }
        if parts.is_empty() { "true".to_string() } else { parts.join(" && ") }
    }
}

/// An edge of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AutomatonEdge {
    /// The letters at which it may be taken.
    pub letters: Cube,
    /// The marks that it carries.
    pub marks: u32,
    /// The state it leads to.
    pub target: u32,
}

/// An automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Automaton {
    /// The edges of each state.
    pub edges: Vec<Vec<AutomatonEdge>>,
    /// The states it may start in.
    pub initial: Vec<u32>,
    /// How many marks there are, at most 32; they are numbered from 0.
    pub marks: u32,
    /// A state in which everything is accepted, where there is one that the automaton itself singles out.
    pub end: Option<u32>,
}

impl Automaton {
    /// The set of all its marks.
    pub fn all_marks(&self) -> u32 {
        u32::MAX.checked_shr(32 - self.marks).unwrap_or(0)
    }

    /// Is it certain that repeating a letter, or leaving a repetition out, makes no difference to what it accepts? By
    /// its edges: behind or before each edge it may wait at the same letters, and two edges that it takes at one letter
    /// can be one, with the marks of both where it can come back. (False does not say that it makes a difference.)
    pub fn ignores_repetition(&self) -> bool {
        let waits = |state: u32, letters: Cube| {
            self.edges[state as usize].iter().any(|edge| edge.target == state && edge.letters.covers(letters))
        };
        let edges = || (0..).zip(&self.edges).flat_map(|(state, own)| own.iter().map(move |edge| (state, edge)));
        let reaches = self.reaches();
        edges().all(|(state, edge): (u32, _)| {
            let may_wait = waits(state, edge.letters) || waits(edge.target, edge.letters);
            may_wait
                && self.edges[edge.target as usize].iter().all(|next| {
                    let Some(letters) = edge.letters.and(next.letters) else { return true };
                    let comes_back = reaches[next.target as usize][state as usize];
                    let marks = if comes_back { edge.marks | next.marks } else { 0 };
                    self.edges[state as usize].iter().any(|one| {
                        one.target == next.target && one.letters.covers(letters) && one.marks & marks == marks
                    })
                })
        })
    }

    /// For each state, those that it can come to.
    fn reaches(&self) -> Vec<Vec<bool>> {
        let count = self.edges.len();
        let from = |state: usize| {
            let mut seen = vec![false; count];
            let mut work = vec![state];
            while let Some(at) = work.pop() {
                for edge in &self.edges[at] {
                    if !std::mem::replace(&mut seen[edge.target as usize], true) {
                        work.push(edge.target as usize);
                    }
                }
            }
            seen
        };
        (0..count).map(from).collect()
    }

    /// Can it be in its end after reading these letters?
    pub fn comes_to_end(&self, letters: impl IntoIterator<Item = u64>) -> bool {
        let mut states = vec![false; self.edges.len()];
        for &state in &self.initial {
            states[state as usize] = true;
        }
        for letter in letters {
            let mut next = vec![false; self.edges.len()];
            for (state, own) in self.edges.iter().enumerate().filter(|(state, _)| states[*state]) {
                next[state] |= Some(state as u32) == self.end;
                for edge in own.iter().filter(|edge| edge.letters.admits(letter)) {
                    next[edge.target as usize] = true;
                }
            }
            states = next;
        }
        self.end.is_some_and(|end| states[end as usize])
    }

    /// Does it accept a lasso? `letter` gives the propositions that hold at a position; the positions are below
    /// `length`, and the one behind the last is `back_to`. From the definition: a run that is accepted goes through a
    /// cycle of pairs of a state and a position on which all marks occur.
    pub fn accepts(&self, length: usize, back_to: usize, letter: impl Fn(usize) -> u64) -> bool {
        self.accepts_passing(length, back_to, letter, |_| 0)
    }

    /// The same where the step from a position carries marks of its own.
    pub fn accepts_passing(
        &self,
        length: usize,
        back_to: usize,
        letter: impl Fn(usize) -> u64,
        passing: impl Fn(usize) -> u32,
    ) -> bool {
        assert!(back_to < length, "a lasso has a cycle");
        let next = |at: usize| if at + 1 == length { back_to } else { at + 1 };
        let steps = |(state, at): (u32, usize)| {
            let (letter, passing) = (letter(at), passing(at));
            let edges = self.edges[state as usize].iter().filter(move |edge| edge.letters.admits(letter));
            edges.map(move |edge| (edge.marks | passing, (edge.target, next(at))))
        };
        let number = |(state, at): (u32, usize)| state as usize * length + at;
        let mut reached = vec![false; self.edges.len() * length];
        let mut before: Vec<Vec<(u32, usize)>> = vec![Vec::new(); self.edges.len() * length];
        let mut work: Vec<(u32, usize)> = self.initial.iter().map(|&state| (state, 0)).collect();
        let mut pairs = Vec::new();
        while let Some(pair) = work.pop() {
            if Some(pair.0) == self.end {
                return true;
            }
            if !std::mem::replace(&mut reached[number(pair)], true) {
                pairs.push(pair);
                for (_, target) in steps(pair) {
                    before[number(target)].push(pair);
                    work.push(target);
                }
            }
        }
        // From each pair at the first position of the cycle: what is on a way from it to itself?
        pairs.into_iter().filter(|pair| pair.1 == back_to).any(|home| {
            let (mut ahead, mut behind) = (vec![false; reached.len()], vec![false; reached.len()]);
            let mut work = vec![home];
            while let Some(pair) = work.pop() {
                for (_, target) in steps(pair) {
                    if !std::mem::replace(&mut ahead[number(target)], true) {
                        work.push(target);
                    }
                }
            }
            if !ahead[number(home)] {
                return false;
            }
            work.push(home);
            let mut marks = 0;
            while let Some(pair) = work.pop() {
                for &source in &before[number(pair)] {
                    if ahead[number(source)] {
                        marks |= steps(source).filter(|&(_, target)| target == pair).fold(0, |all, (own, _)| all | own);
                        if !std::mem::replace(&mut behind[number(source)], true) {
                            work.push(source);
                        }
                    }
                }
            }
            marks == self.all_marks()
        })
    }
}
