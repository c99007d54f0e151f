//! An action that is cut leaves nothing behind that a later question believes.
//!
//! The oracle asks a question and counts how often it applies an element to a row or to a slot. Then it cuts each
//! application in turn, as each kind of cut, demands this very cut for an answer, asks again on the same subject, and
//! compares the answer with that of a fresh one. What an application that is cut leaves in its row is nonsense.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trefoil_control::Control;
use trefoil_system::{
    Action, Actor, Cut, Explorer, Group, LabelId, Labels, Layout, Picture, System, Value, Walk, Wrong,
};

/// A system whose action is cut at a chosen call.
pub struct Cutting<'a> {
    system: &'a dyn System,
    action: &'a dyn Action,
    plan: Mutex<Plan>,
}

/// Which application is cut.
struct Plan {
    /// How many there were, over all actors.
    made: u64,
    /// The one that is cut, counted from 1; 0 is none.
    at: u64,
    cut: Cut,
}

/// The ways in which an application is cut, one after the other.
fn cuts() -> [Cut; 4] {
    let wrong = Wrong { message: "this row has no image".into(), place: None, hint: None };
    [Cut::Stopped, Cut::Wrong(Box::new(wrong.clone())), Cut::Beyond(Box::new(wrong)), Cut::Outgrown]
}

impl<'a> Cutting<'a> {
    /// A system with an action that is not cut yet.
    pub fn new(system: &'a dyn System) -> Cutting<'a> {
        let action = system.action().expect("the system has an action");
        Cutting { system, action, plan: Mutex::new(Plan { made: 0, at: 0, cut: Cut::Stopped }) }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, at: u64, cut: &Cut) {
        *self.plan() = Plan { made: 0, at, cut: cut.clone() };
    }

    fn apply(&self) -> Walk {
        let mut plan = self.plan();
        plan.made += 1;
        if plan.made == plan.at { Err(plan.cut.clone()) } else { Ok(()) }
    }

    /// Cuts a question at each of its applications, or at `most` of them that are spread evenly, and says how often.
    /// Panics unless each cut comes back unchanged, and the answer afterwards is that of a fresh subject.
    pub fn interrupt<S, A: PartialEq + Debug>(
        &self,
        most: u64,
        make: impl Fn() -> S,
        ask: impl Fn(&mut S) -> Result<A, Cut>,
    ) -> u64 {
        let cuts = cuts();
        self.set(0, &cuts[0]);
        let mut subject = make();
        self.set(0, &cuts[0]);
        let expected = ask(&mut subject).expect("nothing cuts it");
        let applications = self.plan().made;
        let count = applications.min(most);
        for number in 0..count {
            let (at, cut) = (1 + number * applications / count, &cuts[number as usize % cuts.len()]);
            let mut subject = make();
            self.set(at, cut);
            let given = ask(&mut subject);
            assert_eq!(given.as_ref(), Err(cut), "the answer after a cut of application {at} of {applications}");
            let again = ask(&mut subject).expect("nothing cuts it again");
            assert_eq!(again, expected, "the answer after that of a cut of application {at} of {applications}");
            self.set(0, cut);
        }
        count
    }
}

impl System for Cutting<'_> {
    fn layout(&self) -> &Layout {
        self.system.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.system.labels()
    }

    fn groups(&self) -> &[Group] {
        self.system.groups()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.system.initial(control)
    }

    fn explorer<'e>(&'e self, control: &'e Control) -> Box<dyn Explorer + 'e> {
        self.system.explorer(control)
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(self)
    }
}

impl Action for Cutting<'_> {
    fn points(&self) -> usize {
        self.action.points()
    }

    fn generators(&self) -> &[Vec<u32>] {
        self.action.generators()
    }

    fn pictures_are_complete(&self) -> bool {
        self.action.pictures_are_complete()
    }

    fn colours(&self, point: u32) -> Option<u32> {
        self.action.colours(point)
    }

    fn actor<'e>(&'e self, control: &'e Control) -> Box<dyn Actor + 'e> {
        Box::new(CuttingActor { action: self, actor: self.action.actor(control) })
    }
}

struct CuttingActor<'a> {
    action: &'a Cutting<'a>,
    actor: Box<dyn Actor + 'a>,
}

impl Actor for CuttingActor<'_> {
    fn picture(&mut self, row: &[Value], picture: &mut Picture) {
        self.actor.picture(row, picture);
    }

    fn draw_slots(&mut self, row: &[Value], slots: &[u32], picture: &mut Picture) -> bool {
        self.actor.draw_slots(row, slots, picture)
    }

    fn begin(&mut self, row: &[Value], picture: &mut Picture) {
        self.actor.begin(row, picture);
    }

    fn draw_change(
        &mut self,
        from: &[Value],
        to: &[Value],
        slots: &[u32],
        before: &mut Picture,
        after: &mut Picture,
    ) -> bool {
        self.actor.draw_change(from, to, slots, before, after)
    }

    fn apply(&mut self, element: &[u32], row: &[Value], into: &mut [Value]) -> Walk {
        into.fill(Value::MAX);
        self.action.apply()?;
        self.actor.apply(element, row, into)
    }

    fn references(&mut self, slot: usize, value: Value, points: &mut Vec<u32>) -> bool {
        self.actor.references(slot, value, points)
    }

    fn apply_to_slot(&mut self, element: &[u32], slot: usize, value: Value) -> Result<(usize, Value), Cut> {
        self.action.apply()?;
        self.actor.apply_to_slot(element, slot, value)
    }

    fn apply_to_label(&mut self, element: &[u32], label: LabelId) -> LabelId {
        self.actor.apply_to_label(element, label)
    }
}
