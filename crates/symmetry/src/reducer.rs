//! One thread's map from rows to representatives.
//!
//! Drawing a row, labelling its picture and applying an element costs in proportion to the row. But the rows that
//! matter most are those that the steps of one row lead to, and each differs from it in a few slots. Where an actor can
//! draw how changed slots change a picture ([`Actor::draw_change`]), the row is drawn once and its picture kept as a
//! graph; for each step only the difference is drawn, and the graph is changed by it, labelled, and changed back.
//!
//! The graph that is labelled is the one that the picture of the new row describes, so the representative is the same
//! whichever way it was found. Where a changed slot draws vertices of its own, or the graph cannot hold what is drawn,
//! the whole row is drawn.
//!
//! An image may need room (a set of specification states that was not met before); an actor that gets none cuts the
//! reduction. A single state may have hundreds of thousands of steps, so a reducer polls the control for each
//! representative.

use trefoil_control::Control;
use trefoil_groups::UBig;
use trefoil_system::{Action, Actor, Cut, Picture, Value};

use crate::canoniser::{Canoniser, Representative};
use crate::labels::Change;
use crate::symmetry::Symmetry;
use crate::work;

/// Carries rows to their representatives, in buffers that are reused.
pub struct Reducer<'a> {
    pub(crate) actor: Box<dyn Actor + 'a>,
    pub(crate) canoniser: Canoniser<'a>,
    /// Of the row that others differ from in few slots.
    pub(crate) picture: Picture,
    control: &'a Control,
    near: Option<Near>,
    before: Picture,
    after: Picture,
    row: Vec<Value>,
    symmetry: &'a Symmetry,
    /// The work so far, when a caller wants to know it.
    pub(crate) work: Option<u64>,
}

/// A picture is kept.
#[derive(Clone, Copy)]
struct Near {
    /// How many vertices a picture has where nothing is drawn.
    canvas: usize,
}

/// A row's representative.
pub struct Reduced<'a> {
    /// The representative.
    pub row: &'a [Value],
    /// The element that carries the row to it.
    pub element: &'a [u32],
    /// How many elements fix the row, if the strategy counts them.
    pub(crate) stabiliser: Option<UBig>,
}

impl<'a> Reducer<'a> {
    /// For the rows that this action acts on.
    pub fn new(action: &'a dyn Action, symmetry: &'a Symmetry, control: &'a Control) -> Reducer<'a> {
        Reducer {
            actor: action.actor(control),
            canoniser: symmetry.canoniser(control),
            picture: Picture::new(action.points()),
            control,
            near: None,
            before: Picture::default(),
            after: Picture::default(),
            row: Vec::new(),
            symmetry,
            work: None,
        }
    }

    /// The representative of a row.
    #[inline]
    pub fn reduce(&mut self, row: &[Value]) -> Result<Reduced<'_>, Cut> {
        self.control.check()?;
        self.actor.picture(row, &mut self.after);
        let Representative { element, stabiliser } = self.canoniser.representative(&self.after)?;
        if let Some(work) = &mut self.work {
            *work += work::drawing(&self.after) + work::applying(row);
            *work += work::choosing(self.symmetry, &self.after, stabiliser.as_ref());
        }
        self.row.resize(row.len(), 0);
        self.actor.apply(element, row, &mut self.row)?;
        Ok(Reduced { row: &self.row, element, stabiliser })
    }

    /// Draws a row, in order to find its representative and those of rows that differ from it in few slots.
    pub(crate) fn begin(&mut self, row: &[Value]) -> &Picture {
        self.actor.begin(row, &mut self.picture);
        if let Some(work) = &mut self.work {
            *work += work::drawing(&self.picture) + work::applying(row);
        }
        self.near = None;
        if self.actor.draw_change(row, row, &[], &mut self.before, &mut self.after)
            && self.canoniser.keep(&self.picture)
        {
            self.near = Some(Near { canvas: self.before.vertices() });
        }
        &self.picture
    }

    /// The representative of a row that differs only in these slots from the row that was drawn by the last call of
    /// `begin`.
    #[inline]
    pub(crate) fn reduce_near(&mut self, from: &[Value], to: &[Value], slots: &[u32]) -> Result<Reduced<'_>, Cut> {
        let Reducer { actor, canoniser, near, before, after, row, control, symmetry, picture, work } = self;
        let stabiliser = match *near {
            Some(Near { canvas })
                if actor.draw_change(from, to, slots, before, after)
                    && before.vertices() == canvas
                    && after.vertices() == canvas =>
            {
                canoniser.arrange_near(&Change { before, after })?
            }
            _ => None,
        };
        if let Some(order) = &stabiliser {
            if let Some(work) = work {
                *work += work::drawing(before) + work::drawing(after) + work::applying(to);
                *work += work::choosing(symmetry, picture, Some(order));
            }
            row.resize(to.len(), 0);
            control.check()?;
            actor.apply(canoniser.element(), to, row)?;
            return Ok(Reduced { row: &self.row, element: self.canoniser.element(), stabiliser });
        }
        self.reduce(to)
    }
}
