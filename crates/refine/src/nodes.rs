//! Nodes of a normal form as values of a slot.
//!
//! Which number a node gets depends on which thread found it first; which states of the specification it keeps does
//! not. So the canonical bytes of a node are those states, ascending.

use std::cmp::Ordering;
use std::sync::Arc;

use trefoil_control::Control;
use trefoil_lts::{LazyNormalForm, NodeId};
use trefoil_system::{Domain, Value};

/// In place of a node after a trace that the specification does not have, where nodes are found as the search goes.
pub(crate) const FORBIDDEN: Value = Value::MAX;

/// First bytes: the kind of a value.
const TAGS: [u8; 3] = [0, 1, 2];

/// The nodes of a normal form, including chaos and the forbidden node.
pub(crate) struct Nodes {
    normal_form: Arc<LazyNormalForm>,
}

/// The kinds of values, in the order of the tags.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Known<'a> {
    Chaos,
    Node(&'a [u32]),
    Forbidden,
}

impl Nodes {
    pub(crate) fn new(normal_form: &Arc<LazyNormalForm>) -> Nodes {
        Nodes { normal_form: normal_form.clone() }
    }

    fn known(&self, value: Value) -> Known<'_> {
        match NodeId(value) {
            NodeId::CHAOS => Known::Chaos,
            NodeId(FORBIDDEN) => Known::Forbidden,
            node => Known::Node(self.normal_form.states(node)),
        }
    }
}

impl Domain for Nodes {
    fn bytes(&self, value: Value, into: &mut Vec<u8>) {
        match self.known(value) {
            Known::Chaos => into.push(TAGS[0]),
            Known::Node(states) => {
                into.push(TAGS[1]);
                states.iter().for_each(|state| into.extend_from_slice(&state.to_be_bytes()));
            }
            Known::Forbidden => into.push(TAGS[2]),
        }
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        let (tag, rest) = bytes.split_first()?;
        if *tag != TAGS[1] {
            let value = if *tag == TAGS[0] { NodeId::CHAOS.0 } else { FORBIDDEN };
            return (rest.is_empty() && TAGS.contains(tag)).then_some(value);
        }
        let (states, rest) = rest.as_chunks::<4>();
        let states: Vec<u32> = states.iter().map(|bytes| u32::from_be_bytes(*bytes)).collect();
        let ascending = states.is_sorted_by(|one, other| one < other);
        let is_node = rest.is_empty() && ascending && states.iter().all(|&state| self.normal_form.can_keep(state));
        is_node.then(|| self.normal_form.node_of(&states, &Control::unlimited()).ok()).flatten().map(|node| node.0)
    }

    fn compare(&self, left: Value, right: Value) -> Ordering {
        self.known(left).cmp(&self.known(right))
    }

    fn text(&self, value: Value) -> String {
        match self.known(value) {
            Known::Chaos => "chaos".into(),
            Known::Node(states) => {
                let states: Vec<String> = states.iter().map(u32::to_string).collect();
                format!("{{{}}}", states.join(", "))
            }
            Known::Forbidden => "forbidden".into(),
        }
    }

    fn len(&self) -> usize {
        self.normal_form.node_count() + 1
    }
}
