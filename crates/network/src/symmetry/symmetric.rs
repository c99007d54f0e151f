//! A network with the group that acts on it.
//!
//! The same network with acceptances on its states ([`Accepting`]) has the same group: its states are those that the
//! steps of merged components lead to, and a symmetry, which carries components to components, carries these to each
//! other, and what `τ` reaches from them.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{Action, Cut, Explorer, Group, Labels, Layout, Observations, System, Value};

use super::action::NetworkAction;
use crate::accepting::Accepting;
use crate::network::Network;

/// A network that knows its symmetries.
pub struct Symmetric {
    network: Arc<Network>,
    action: NetworkAction,
    accepting: Option<Arc<Accepting>>,
}

impl Symmetric {
    /// A network with an action on it.
    pub fn new(network: Arc<Network>, action: NetworkAction) -> Symmetric {
        Symmetric { network, action, accepting: None }
    }

    /// The same, searched with acceptances on states.
    pub fn with_acceptances(self, accepting: Arc<Accepting>) -> Symmetric {
        Symmetric { accepting: Some(accepting), ..self }
    }

    /// The network with acceptances on states, if that is what is searched.
    pub fn accepting(&self) -> Option<&Arc<Accepting>> {
        self.accepting.as_ref()
    }

    fn searched(&self) -> &dyn System {
        match &self.accepting {
            Some(accepting) => &**accepting,
            None => &*self.network,
        }
    }

    /// The network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// The action.
    pub fn network_action(&self) -> &NetworkAction {
        &self.action
    }
}

impl System for Symmetric {
    fn layout(&self) -> &Layout {
        self.searched().layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    fn groups(&self) -> &[Group] {
        self.searched().groups()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.searched().initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.searched().explorer(control)
    }

    fn observations(&self) -> Observations {
        self.searched().observations()
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(&self.action)
    }

    fn describe(&self, row: &[Value]) -> String {
        self.network.describe(row)
    }
}
