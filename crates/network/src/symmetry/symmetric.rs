//! A network with the group that acts on it.

use std::sync::Arc;

use trefoil_control::Control;
use trefoil_system::{Action, Cut, Explorer, Group, Labels, Layout, Observations, System, Value};

use super::action::NetworkAction;
use crate::network::Network;

/// A network that knows its symmetries.
pub struct Symmetric {
    network: Arc<Network>,
    action: NetworkAction,
}

impl Symmetric {
    /// A network with an action on it.
    pub fn new(network: Arc<Network>, action: NetworkAction) -> Symmetric {
        Symmetric { network, action }
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
        self.network.layout()
    }

    fn labels(&self) -> &Arc<Labels> {
        self.network.labels()
    }

    fn groups(&self) -> &[Group] {
        self.network.groups()
    }

    fn initial(&self, control: &Control) -> Result<Vec<Value>, Cut> {
        self.network.initial(control)
    }

    fn explorer<'a>(&'a self, control: &'a Control) -> Box<dyn Explorer + 'a> {
        self.network.explorer(control)
    }

    fn observations(&self) -> Observations {
        self.network.observations()
    }

    fn action(&self) -> Option<&dyn Action> {
        Some(&self.action)
    }

    fn describe(&self, row: &[Value]) -> String {
        self.network.describe(row)
    }
}
