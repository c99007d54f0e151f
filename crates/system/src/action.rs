//! What a symmetry group does to the states and labels of a system.
//!
//! The group permutes *points*; an element is a slice of images, `element[p]` is where point `p` goes. The system
//! itself knows what that does to a row (which component becomes which, which values its slots then hold) and draws the
//! [`Picture`] of a row. Like a system, an action is shared by all threads, and what a thread needs for itself is in
//! its [`Actor`].

use trefoil_control::Control;

use crate::cut::{Cut, Walk};
use crate::labels::LabelId;
use crate::layout::Value;
use crate::picture::Picture;

/// A group that acts on the rows and labels of a system, and under which its transitions are closed.
///
/// For every element `g` of the group: a transition from `r` to `s` labelled `a` means one from `g(r)` to `g(s)`
/// labelled `g(a)`, and `g` carries the picture of `r` to that of `g(r)`.
pub trait Action: Send + Sync {
    /// The number of points.
    fn points(&self) -> usize;

    /// Elements that generate the group.
    fn generators(&self) -> &[Vec<u32>];

    /// Whether an element that keeps the picture of a row keeps the row. Where it does not, a row may have several
    /// representatives, and pictures may only be used to choose the element to apply.
    fn pictures_are_complete(&self) -> bool {
        true
    }

    /// A number above every colour that pictures give to this point, when one is known; it is the same for all points
    /// that elements carry to each other. A caller that draws more than the action does uses colours from this number
    /// on.
    fn colours(&self, _point: u32) -> Option<u32> {
        None
    }

    /// Elements move no agents ([`crate::Step::agents`]) but those with smaller numbers.
    fn agents(&self) -> usize {
        0
    }

    /// The name of a point for users.
    fn describe_point(&self, point: u32) -> String {
        point.to_string()
    }

    /// A thread's own view, with the scratch space that it needs; the control is that of the question.
    fn actor<'a>(&'a self, control: &'a Control) -> Box<dyn Actor + 'a>;
}

/// One thread's view of an action.
///
/// An image may be a state that the action has to store first (a set of specification states, a row of a lazy
/// component), so applying an element may be cut. After a cut an actor is equivalent to a fresh one.
pub trait Actor {
    /// Draws a row; `picture` is cleared first.
    fn picture(&mut self, row: &[Value], picture: &mut Picture);

    /// Draws only what a row has in some of its slots; `picture` is cleared first. False when the picture of a row is
    /// not the sum of what its slots draw: colours added, vertices and edges united.
    fn draw_slots(&mut self, _row: &[Value], _slots: &[u32], _picture: &mut Picture) -> bool {
        false
    }

    /// Draws a row as [`Actor::picture`] does, from which others differ in few slots ([`Actor::draw_change`]).
    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.picture(row, picture);
    }

    /// Draws how the picture of a row differs from that of `from`, the row that the last [`Actor::begin`] drew, when
    /// the rows differ only in these slots: `before` has the edges that are gone, `after` those that are new, and where
    /// a vertex has another colour, the second is the first with what `before` has taken away and what `after` has
    /// added. Both are cleared first, and have all the vertices that pictures have where nothing is drawn. False when
    /// it is not known.
    fn draw_change(
        &mut self,
        from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        self.draw_slots(from, slots, before) && self.draw_slots(to, slots, after)
    }

    /// `into` becomes what an element of the group makes of a row of the same width; after a cut it holds nothing of
    /// meaning.
    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk;

    /// Appends the points that the value of a slot refers to, including the slot itself when elements move it: an
    /// element that fixes them fixes both. False when rows are not permuted slot by slot.
    fn references(&mut self, _slot: usize, _value: Value, _points: &mut Vec<u32>) -> bool {
        false
    }

    /// The image of the value of a slot under an element of the group: the slot where it is then, and the value there.
    /// Called only where [`Actor::references`] returns true.
    fn apply_to_slot(&mut self, _element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        Ok((slot, value))
    }

    /// The image of a label under an element of the group.
    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId;

    /// The image of an agent under an element of the group.
    fn apply_to_agent(&mut self, _element: &[u32], agent: u32) -> u32 {
        agent
    }

    /// Is this a row that the action leaves as it is, whatever the element? Labels and agents of its steps stay what
    /// they are, too.
    fn stands_still(&self, _row: &[Value]) -> bool {
        false
    }
}
