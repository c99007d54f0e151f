//! Where variables are found: frames, captures and groups, while code is being made.

use std::collections::HashMap;

use super::code::{Access, GroupId, OperationId, Unit, UnitId};
use super::compile::Compiler;
use crate::rename::LocalId;

/// What a scope can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Local(LocalId),
    Group(GroupId),
}

/// How a local is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    /// Its value is kept under its own name.
    Slot,
    /// It is a definition of a group.
    Member(GroupId, u32),
}

/// A unit under construction.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    pub(super) locals: HashMap<Key, u32, foldhash::fast::RandomState>,
    pub(super) slots: u32,
    pub(super) captures: Vec<Access>,
    pub(super) captured: Vec<Key>,
    pub(super) places: HashMap<Key, u32, foldhash::fast::RandomState>,
    pub(super) member_of: Option<GroupId>,
}

/// A group under construction.
#[derive(Default)]
pub(super) struct GroupScope {
    /// The scope in which its `let` stands.
    pub(super) home: usize,
    pub(super) captures: Vec<Access>,
    pub(super) places: HashMap<Key, u32, foldhash::fast::RandomState>,
}

impl Compiler<'_> {
    pub(super) fn open(&mut self, parent: Option<usize>) -> usize {
        self.scopes.push(Scope { parent, ..Scope::default() });
        self.scopes.len() - 1
    }

    pub(super) fn open_member(&mut self, group: GroupId, home: usize) -> usize {
        self.scopes.push(Scope { parent: Some(home), member_of: Some(group), ..Scope::default() });
        self.scopes.len() - 1
    }

    /// Ends the innermost scope.
    pub(super) fn close(&mut self) -> Scope {
        self.scopes.pop().expect("scopes are closed in the order in which they were opened")
    }

    pub(super) fn close_unit(&mut self, body: OperationId) -> UnitId {
        let scope = self.close();
        self.program.units.push(Unit { captures: scope.captures, frame: scope.slots, body });
        UnitId(self.program.units.len() as u32 - 1)
    }

    pub(super) fn slot(&mut self, scope: usize, key: Option<Key>) -> u32 {
        let scope = &mut self.scopes[scope];
        let slot = scope.slots;
        scope.slots += 1;
        if let Some(key) = key {
            scope.locals.insert(key, slot);
        }
        slot
    }

    pub(super) fn bind_local(&mut self, scope: usize, local: LocalId) -> u32 {
        self.bindings.insert(local, Binding::Slot);
        self.slot(scope, Some(Key::Local(local)))
    }

    /// How a scope reaches something that an enclosing scope holds.
    pub(super) fn access(&mut self, scope: usize, key: Key) -> Access {
        if let Some(&slot) = self.scopes[scope].locals.get(&key) {
            return Access::Local(slot);
        }
        if let Some(group) = self.scopes[scope].member_of {
            if key == Key::Group(group) {
                return Access::Captured(0);
            }
            let at = &self.groups[group.index()];
            if let Some(&place) = at.places.get(&key) {
                return Access::Field(place);
            }
            let home = at.home;
            let access = stacker::maybe_grow(64 * 1024, 1 << 20, || self.access(home, key));
            let group = &mut self.groups[group.index()];
            let place = group.captures.len() as u32;
            group.captures.push(access);
            group.places.insert(key, place);
            return Access::Field(place);
        }
        if let Some(&place) = self.scopes[scope].places.get(&key) {
            return Access::Captured(place);
        }
        let parent = self.scopes[scope].parent.expect("names are resolved, so some enclosing scope holds this one");
        let access = stacker::maybe_grow(64 * 1024, 1 << 20, || self.access(parent, key));
        let scope = &mut self.scopes[scope];
        let place = scope.captures.len() as u32;
        scope.captures.push(access);
        scope.captured.push(key);
        scope.places.insert(key, place);
        Access::Captured(place)
    }
}
