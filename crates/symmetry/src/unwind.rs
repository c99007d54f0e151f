//! Runs of a quotient as runs of the system itself.
//!
//! After Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*, 2019, section 3.5. Beside a run of
//! representatives `r0, r1, …` go the states `s0, s1, …` of the real run and elements with `e_i(s_i) = r_i`. A step of
//! the quotient from `r_i` is a step of the system from `r_i` to some `t`, and an element `c` that carries `t` to
//! `r_(i+1)`. Then `e_i⁻¹` of that step is a step from `s_i`, and the next element is `e_i`, then `c`.
//!
//! A cycle of representatives need not be a cycle of states: once around, the real run is in a state of the same orbit.
//! The element that one round adds is the same each time, so after as many rounds as its power takes to fix the state,
//! the first state recurs, and the rounds so far are a cycle. That is at most the order of the element: 2 for an
//! exchange, in general the order of a permutation.
//!
//! A run of the quotient names its steps by labels and representatives. That is enough where the first step that fits
//! will do; where it matters which one is taken, because others take part in it, a step is named by its place among
//! those of its state ([`Unwinding::step_at`]).
//!
//! Cost: for each step of the real run the successors of one state, each canonicalised.

use std::collections::HashSet;

use trefoil_control::Control;
use trefoil_groups::{follow, invert_into};
use trefoil_system::{Cut, Explorer, LabelId, Path, TakenStep, Value};

use crate::quotient::{CarryingExplorer, Quotient, make_identity};
use crate::reducer::Reducer;

impl Quotient<'_> {
    /// A run of the system that a run of the quotient from its initial state stands for.
    pub fn unwind(&self, path: &Path, control: &Control) -> Result<Path, Cut> {
        Unwinding::new(self, control).path(path)
    }

    /// The same for a run into a cycle: a run of the system, and a cycle from its last state.
    pub fn unwind_lasso(
        &self,
        path: &Path,
        cycle: &[TakenStep],
        control: &Control,
    ) -> Result<(Path, Vec<TakenStep>), Cut> {
        let mut unwinder = Unwinding::new(self, control);
        let stem = unwinder.path(path)?;
        let mut around = Vec::new();
        if cycle.is_empty() {
            return Ok((stem, around));
        }
        // A round permutes the states of an orbit, so none comes twice before the first one.
        let mut ends: HashSet<Vec<Value>> = HashSet::new();
        loop {
            let mut here = path.last();
            for taken in cycle {
                if around.len() == around.capacity() {
                    control.afford(around.len() * 2 * (size_of::<TakenStep>() + size_of_val(here)))?;
                }
                around.push(unwinder.step(here, taken)?);
                here = &taken.row;
            }
            let end = around.last().map_or(&[][..], |last: &TakenStep| &last.row);
            if end == stem.last() {
                return Ok((stem, around));
            }
            assert!(ends.insert(end.to_vec()), "a round of a quotient comes back to where it began");
        }
    }
}

/// A run of a system beside one of its quotient.
pub struct Unwinding<'a> {
    quotient: &'a Quotient<'a>,
    explorer: Box<dyn Explorer + 'a>,
    carrying: CarryingExplorer<'a>,
    reducer: Reducer<'a>,
    control: &'a Control,
    /// Carries the real state to its representative.
    element: Vec<u32>,
    inverse: Vec<u32>,
}

impl<'a> Unwinding<'a> {
    /// From the initial state on.
    pub fn new(quotient: &'a Quotient<'a>, control: &'a Control) -> Unwinding<'a> {
        Unwinding {
            quotient,
            explorer: quotient.system.explorer(control),
            carrying: quotient.carrying(control),
            reducer: quotient.reducer(control),
            control,
            element: quotient.carried.clone(),
            inverse: vec![0; quotient.carried.len()],
        }
    }

    /// The run that one of the quotient stands for.
    pub fn path(&mut self, path: &Path) -> Result<Path, Cut> {
        let start = self.quotient.system.initial(self.control)?;
        let mut real = Path { start, steps: Vec::with_capacity(path.steps.len()) };
        let mut here = &path.start;
        for taken in &path.steps {
            real.steps.push(self.step(here, taken)?);
            here = &taken.row;
        }
        Ok(real)
    }

    /// One more step, from a representative.
    fn step(&mut self, from: &[Value], taken: &TakenStep) -> Result<TakenStep, Cut> {
        self.control.check()?;
        let mut steps: Vec<(LabelId, Vec<Value>)> = Vec::new();
        self.explorer.successors(from, &mut |step| {
            if step.label.is_visible() == taken.label.is_visible() {
                steps.push((step.label, step.row.to_vec()));
            }
            Ok(())
        })?;
        // A step that is the image of another under an element may have that one's target.
        steps.sort_by_key(|(label, _)| *label != taken.label);
        for (label, row) in steps {
            let reduced = self.reducer.reduce(&row)?;
            if reduced.row != taken.row {
                continue;
            }
            invert_into(&self.element, &mut self.inverse);
            follow(&mut self.element, reduced.element);
            if self.reducer.actor.stands_still(&row) {
                make_identity(&mut self.element);
            }
            let label = self.reducer.actor.apply_to_label(&self.inverse, label);
            let mut real = vec![0; row.len()];
            self.reducer.actor.apply(&self.inverse, &row, &mut real)?;
            return Ok(TakenStep { label, row: real });
        }
        panic!("a run of the quotient has a step that the system does not have")
    }

    /// One more step, from a representative: the one at this place among its steps.
    pub fn step_at(&mut self, from: &[Value], place: usize) -> Result<TakenStep, Cut> {
        self.control.check()?;
        let mut at = 0;
        let mut found: Option<(LabelId, Vec<Value>, Vec<u32>)> = None;
        self.carrying.steps(from, &mut |carried| {
            if at == place {
                found = Some((carried.step.label, carried.target.to_vec(), carried.element.to_vec()));
            }
            at += 1;
            Ok(())
        })?;
        let (label, row, element) = found.expect("the representative has this step");
        invert_into(&self.element, &mut self.inverse);
        let label = self.reducer.actor.apply_to_label(&self.inverse, label);
        let mut real = vec![0; row.len()];
        self.reducer.actor.apply(&self.inverse, &row, &mut real)?;
        follow(&mut self.element, &element);
        if self.reducer.actor.stands_still(&row) {
            make_identity(&mut self.element);
        }
        Ok(TakenStep { label, row: real })
    }
}
