//! A few states of a system and their steps, found in an order that the caller chooses.
//!
//! What is expanded is written down as a search does ([`crate::graph`]), so that a claim can be decided on it. One
//! thread, and states are numbered as they come: the same calls give the same graph.

use std::collections::HashMap;
use std::ops::Range;

use trefoil_control::Control;
use trefoil_explore::{Edge, Packing, StateSet, States, Visited, Visitor};
use trefoil_system::{Cut, Explorer, StateId, System, Value};

use crate::graph::{Graph, Recorder, Recording};
use crate::product::{Forbidden, Reading};

/// What is known of a system.
pub(crate) struct Ground<'w> {
    system: &'w dyn System,
    forbidden: &'w Forbidden<'w>,
    explorer: Box<dyn Explorer + 'w>,
    recorder: Recorder<'w>,
    states: States,
    control: &'w Control,
    /// The states that were expanded: the letter of each as the automaton reads it, and where its targets are.
    expanded: HashMap<u32, (Reading, Range<usize>), foldhash::fast::FixedState>,
    targets: Vec<u32>,
}

impl<'w> Ground<'w> {
    pub(crate) fn new(
        system: &'w dyn System,
        recording: &'w Recording<'w>,
        forbidden: &'w Forbidden<'w>,
        control: &'w Control,
    ) -> Ground<'w> {
        Ground {
            system,
            forbidden,
            explorer: system.explorer(control),
            recorder: recording.recorder(),
            states: StateSet::new(Packing::new(system.layout()), 1).freeze(),
            control,
            expanded: HashMap::default(),
            targets: Vec::new(),
        }
    }

    /// A graph of all states that were expanded, from one of them.
    pub(crate) fn graph(self, initial: StateId) -> Result<(Graph, States), Cut> {
        Ok((self.recorder.graph(initial, &self.states, self.control)?, self.states))
    }

    /// The targets of steps by their places.
    pub(crate) fn target(&self, place: usize) -> u32 {
        self.targets[place]
    }

    /// The numbers of some rows, one behind the other.
    pub(crate) fn find(&mut self, rows: &[Value]) -> Result<Vec<StateId>, Cut> {
        let mut numbers = Vec::new();
        self.states.grow(|inserter| inserter.insert_all(rows, self.control, &mut numbers))?;
        Ok(numbers.into_iter().map(|(state, _)| state).collect())
    }

    /// The letter of a state that was found, and where its targets are. Nothing when it was not expanded and `most`
    /// others were.
    pub(crate) fn steps(&mut self, state: u32, most: u64) -> Result<Option<(Reading, Range<usize>)>, Cut> {
        if let Some(known) = self.expanded.get(&state) {
            return Ok(Some(known.clone()));
        }
        if self.expanded.len() as u64 >= most {
            return Ok(None);
        }
        self.control.check()?;
        let mut row = vec![0; self.system.layout().width()];
        self.states.reader().row(StateId(state), &mut row);
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
        let (letter, from) = (self.forbidden.reading(self.recorder.letter()), self.targets.len());
        self.targets.extend_from_slice(self.recorder.last_targets());
        let known = (letter, from..self.targets.len());
        self.expanded.insert(state, known.clone());
        Ok(Some(known))
    }
}
