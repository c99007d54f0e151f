//! A few states of a system and their steps, found in an order that the caller chooses.
//!
//! What is expanded is written down as a search does ([`crate::graph`]), so that a claim can be decided on it. One
//! thread, and states are numbered as they come: the same calls give the same graph.

use std::collections::HashMap;
use std::ops::Range;

use trefoil_control::Control;
use trefoil_explore::{Edge, Inserter, StateSet, Visited, Visitor};
use trefoil_system::{Cut, Explorer, StateId, System, Value};

use crate::graph::{Recorder, Recording};
use crate::product::Forbidden;

/// What is known of a system.
pub(crate) struct Ground<'w, 's> {
    system: &'w dyn System,
    forbidden: &'w Forbidden<'w>,
    explorer: Box<dyn Explorer + 'w>,
    recorder: Recorder<'w>,
    inserter: Inserter<'s>,
    control: &'w Control,
    known: HashMap<u32, Known, foldhash::fast::FixedState>,
    /// The targets of all states that were expanded, one state's behind another's.
    targets: Vec<u32>,
    /// How many states were expanded.
    pub(crate) count: u64,
}

/// A state.
enum Known {
    /// It was found: its row.
    Found(Box<[Value]>),
    /// It was expanded: its letter as the automaton reads it, and where its targets are.
    Expanded(u64, Range<usize>),
}

impl<'w, 's> Ground<'w, 's> {
    pub(crate) fn new(
        system: &'w dyn System,
        recording: &'w Recording<'w>,
        forbidden: &'w Forbidden<'w>,
        set: &'s StateSet,
        control: &'w Control,
    ) -> Ground<'w, 's> {
        Ground {
            system,
            forbidden,
            explorer: system.explorer(control),
            recorder: recording.recorder(),
            inserter: set.inserter(),
            control,
            known: HashMap::default(),
            targets: Vec::new(),
            count: 0,
        }
    }

    pub(crate) fn into_recorder(self) -> Recorder<'w> {
        self.recorder
    }

    /// The targets of steps by their places.
    pub(crate) fn target(&self, place: usize) -> u32 {
        self.targets[place]
    }

    /// The numbers of some rows, one behind the other.
    pub(crate) fn find(&mut self, rows: &[Value]) -> Result<Vec<StateId>, Cut> {
        let mut numbers = Vec::new();
        self.inserter.insert_all(rows, self.control, &mut numbers)?;
        let width = self.system.layout().width().max(1);
        for (&(state, fresh), row) in numbers.iter().zip(rows.chunks(width)) {
            if fresh {
                self.known.insert(state.0, Known::Found(row.into()));
            }
        }
        Ok(numbers.into_iter().map(|(state, _)| state).collect())
    }

    /// The letter of a state that was found, and where its targets are. Nothing when it was not expanded
    /// and `most` others were.
    pub(crate) fn steps(&mut self, state: u32, most: u64) -> Result<Option<(u64, Range<usize>)>, Cut> {
        let row = match self.known.get_mut(&state) {
            Some(Known::Expanded(letter, targets)) => return Ok(Some((*letter, targets.clone()))),
            Some(Known::Found(row)) => row,
            None => panic!("only what was found is expanded"),
        };
        if self.count == most {
            return Ok(None);
        }
        let row = std::mem::take(row);
        self.count += 1;
        self.control.check()?;
        let (mut rows, mut edges): (Vec<Value>, Vec<Edge>) = (Vec::new(), Vec::new());
        let Ground { explorer, recorder, .. } = self;
        explorer.successors(&row, &mut |step| {
            rows.extend_from_slice(step.row);
            let (label, group, class, note) = (step.label, step.group, step.class, recorder.note(&step));
            edges.push(Edge { label, group, class, note, target: StateId(0), fresh: false });
            Ok(())
        })?;
        for (edge, target) in edges.iter_mut().zip(self.find(&rows)?) {
            edge.target = target;
        }
        let visited = Visited { id: StateId(state), distance: 0, row: &row, steps: &edges };
        self.recorder.visit(&visited, &mut *self.explorer)?;
        let (letter, from) = (self.forbidden.letter(self.recorder.letter()), self.targets.len());
        self.targets.extend_from_slice(self.recorder.last_targets());
        let targets = from..self.targets.len();
        self.known.insert(state, Known::Expanded(letter, targets.clone()));
        Ok(Some((letter, targets)))
    }
}
