//! A short look at a system.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_explore::{End, Finding, Options, Order, Visited, Visitor, search};
use trefoil_system::{Cut, Explorer, System};

/// The result of a short look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surveyed {
    /// All of it was seen.
    Everything,
    /// There is more.
    More,
}

struct Look {
    left: u64,
}

impl Visitor for Look {
    fn visit(&mut self, _: &Visited<'_>, _: &mut dyn Explorer) -> Result<Finding, Cut> {
        self.left = self.left.saturating_sub(1);
        Ok(if self.left == 0 { Finding::State } else { Finding::Nothing })
    }
}

/// Looks at so many states of a system, with more room where it has too little.
pub fn survey(system: &Arc<dyn System>, states: u64, control: &Control) -> Result<Surveyed, Cut> {
    let mut system = system.clone();
    loop {
        control.check()?;
        let settings = Options { threads: 1, order: Order::Steps, ..Options::default() };
        match search(&*system, &settings, control, || Look { left: states }).end {
            End::Complete => return Ok(Surveyed::Everything),
            End::Found(_) => return Ok(Surveyed::More),
            End::Cut(Cut::Outgrown) => system = system.widened().ok_or(Cut::Outgrown)?,
            End::Cut(cut) => return Err(cut),
        }
    }
}
