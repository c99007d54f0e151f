//! Whether a value can hold constants of a datatype.
//!
//! Either of two arguments shows that it cannot. *By its type*: the datatype does not occur in the type,
//! through the fields of other datatypes and through variables. A polymorphic function is seen at all its uses that are
//! reached, so `f(s) = head(seq(s))` may be applied to sets of numbers although the type of `s` is a variable. A type
//! with events in it holds whatever the channels that are reached carry; a process holds everything. *By its reach*:
//! nothing that evaluating the expression looks at leads to the datatype, and no variable from around it can hold its
//! constants. This is how a process whose events carry nothing of the datatype is recognised.

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::RandomState;

use super::reach::{Reach, Reacher, Used};
use crate::rename::{DefinitionId, DefinitionKind, Resolved};
use crate::syntax::Declaration;
use crate::types::{Content, Typed, VariableId};

/// Which datatypes occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touched {
    datatypes: BTreeSet<DefinitionId>,
    everything: bool,
}

impl Touched {
    fn has(&self, datatype: DefinitionId) -> bool {
        self.everything || self.datatypes.contains(&datatype)
    }
}

/// Answers for what one assertion reaches.
pub(super) struct Involvement<'a> {
    typed: &'a Typed,
    reacher: &'a Reacher<'a>,
    /// What each variable can stand for.
    stands_for: HashMap<VariableId, Vec<&'a Content>, RandomState>,
    channels: Vec<&'a Content>,
}

impl<'a> Involvement<'a> {
    pub(super) fn new(typed: &'a Typed, reacher: &'a Reacher<'a>, reach: &Reach) -> Involvement<'a> {
        let contents = typed.contents();
        let mut stands_for: HashMap<VariableId, Vec<&Content>, RandomState> = HashMap::default();
        let uses = reach.names.iter().flat_map(|&name| contents.of_use(name));
        for (variable, content) in uses.chain(contents.parameters()) {
            stands_for.entry(*variable).or_default().push(content);
        }
        let renamed = typed.renamed();
        let is_channel = |id: &DefinitionId| renamed.definition(*id).kind == DefinitionKind::Channel;
        let channels = reach.definitions().into_iter().filter(is_channel);
        let channels = channels.filter_map(|channel| contents.of_definition(channel)).collect();
        Involvement { typed, reacher, stands_for, channels }
    }

    /// Which of these datatypes a use of a built-in involves.
    pub(super) fn of(&self, used: &Used, datatypes: &[DefinitionId]) -> Vec<DefinitionId> {
        let mut involved = datatypes.to_vec();
        if !used.builtin.prunes() {
            let became = self.typed.contents().of_use(used.name);
            let touched: Vec<Touched> = became.iter().map(|(_, content)| self.touched(content)).collect();
            involved.retain(|&datatype| touched.is_empty() || touched.iter().any(|touched| touched.has(datatype)));
        }
        if let (Some(arguments), false) = (used.arguments, involved.is_empty()) {
            let reach = self.reacher.reach_inside(self.typed.renamed().tree().list(arguments));
            let around: Vec<Touched> = reach
                .free()
                .map(|local| match self.typed.contents().of_local(local) {
                    Some(content) => self.touched(content),
                    None => Touched { everything: true, ..Touched::default() },
                })
                .collect();
            involved.retain(|&datatype| reach.has(datatype) || around.iter().any(|touched| touched.has(datatype)));
        }
        involved
    }

    fn touched(&self, content: &Content) -> Touched {
        let mut touched = Touched::default();
        let mut variables: HashSet<VariableId, RandomState> = HashSet::default();
        let mut events = false;
        let mut waiting: Vec<&Content> = vec![content];
        while let Some(content) = waiting.pop() {
            touched.everything |= content.processes || content.unknown;
            if content.events && !std::mem::replace(&mut events, true) {
                waiting.extend(&self.channels);
            }
            for &variable in &content.variables {
                if variables.insert(variable) {
                    waiting.extend(self.stands_for.get(&variable).into_iter().flatten());
                }
            }
            for &datatype in &content.datatypes {
                if touched.datatypes.insert(datatype) {
                    waiting.extend(self.constructors(datatype));
                }
            }
        }
        touched
    }

    fn constructors(&self, datatype: DefinitionId) -> Vec<&'a Content> {
        let renamed = self.typed.renamed();
        let declaration = renamed.tree().declaration(renamed.definition(datatype).declaration);
        let Declaration::Datatype { constructors, .. } = *declaration else { return Vec::new() };
        let named = renamed.tree().list(constructors).iter().filter_map(|constructor| match constructor.name.name {
            Resolved::Definition(id) => self.typed.contents().of_definition(id),
            _ => None,
        });
        named.collect()
    }
}
