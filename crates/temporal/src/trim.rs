//! Pairs that lie on no cycle, found without a depth-first search.
//!
//! Most steps of a breadth-first search lead to states with larger numbers. So one pass over the states, from the last
//! number to the first, sees most pairs of the product when all that they lead to was seen. A pair is *idle* if all
//! pairs inside the component of the automaton that it leads to are idle, if it has no edge that leaves the component,
//! and if nothing is to be noted at it: a state that was not expanded, a proposition without a value. A depth-first
//! search may leave idle pairs out: they lie on no cycle, and every way to a cycle or to something to be noted is
//! without them. What the pass has not seen counts as not idle, so it is right in any order of the numbers.
//!
//! Where a system must come to an end, or to what a claim asks for, all pairs are idle, and the pass reads the records
//! in the order in which they lie and a bit for each target, where a depth-first search jumps between 4 bytes for each.
//! On systems that go round forever the pass would be of no use: it gives up when some pairs of the first states are
//! not idle.
//!
//! Cost: time linear in the pairs and edges above one component of the automaton, a bit for each pair.

use trefoil_control::{Control, Stopped};

use crate::product::{Bits, Product};

/// The pass gives up if fewer than seven in eight pairs are idle in the first part of the states, one in `SAMPLE`.
const SAMPLE: usize = 16;

impl Product<'_> {
    /// The pairs above a component of the automaton that are not known to be idle, by the number of the state times the
    /// width of the component plus the place of the member; nothing where it seems that most are not.
    pub(crate) fn not_idle(&self, members: &[u32], place: &[u32], control: &Control) -> Result<Option<Bits>, Stopped> {
        let (bound, width) = (self.graph.bound(), members.len());
        if u32::try_from(bound * width).is_err() {
            return Ok(None);
        }
        control.afford(bound * width / 8)?;
        let mut left = Bits::full(bound * width);
        let (mut passed, mut idle) = (0, 0);
        for state in (0..bound as u32).rev() {
            if state % 65_536 == 0 {
                control.check()?;
            }
            let Some(record) = self.graph.record(state) else { continue };
            let own = [state];
            let targets = self.targets(&record, &own);
            for (at, &member) in members.iter().enumerate() {
                let mut inside = self.inside(member, record.letter).iter();
                let goes_on = inside.any(|edge| {
                    let offset = place[edge.target as usize];
                    targets.iter().any(|&target| left.contains(target * width as u32 + offset))
                });
                if !goes_on && self.leaving(member, record.letter).is_empty() && self.looks(member, record.letter) == 0
                {
                    left.remove(state * width as u32 + at as u32);
                    idle += 1;
                }
            }
            passed += 1;
            if passed == bound / SAMPLE && idle < passed * width / 8 * 7 {
                return Ok(None);
            }
        }
        Ok(Some(left))
    }
}
