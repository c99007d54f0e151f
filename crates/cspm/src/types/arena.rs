//! Types as nodes of one graph.
//!
//! A node is never moved. An unbound variable becomes a link when it is bound; a link is followed with path halving.
//! Nodes are shared freely, so a type is a graph whose tree may be exponentially larger: every walk over a whole type
//! marks what it has seen. Variables carry the depth (level) of the declaration group that made them, lowered when they
//! are tied to something further out; what is deeper than its group when the group is done is generalised in place, by
//! giving it the level [`GENERIC`] (Rémy, *Extension of ML type system with a sorted equation theory on types*, 1992).
//! A use of a name copies the part of its type that mentions generic variables.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use trefoil_source::Span;

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct T(pub(super) u32);

/// A datatype: one declared, or that of a module's instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DatatypeId(pub(super) u32);

/// Some of the constraints, as bits.
pub(super) type Constraints = u8;
pub(super) const EQ: Constraints = 1;
pub(super) const ORD: Constraints = 2;
pub(super) const SET: Constraints = 4;
pub(super) const COMPLETE: Constraints = 8;
pub(super) const YIELDABLE: Constraints = 16;

/// The level of generalised variables.
pub(super) const GENERIC: u32 = u32::MAX;

/// A range in the arena's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    start: u32,
    len: u32,
}

impl Parts {
    pub(super) fn len(self) -> usize {
        self.len as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A variable. A rigid one, of an annotation, is never bound; the number is that of its name.
    Variable {
        constraints: Constraints,
        level: u32,
        rigid: Option<u32>,
    },
    Link(T),
    /// The type of a mistake, which was reported: it equals every type.
    Wrong,
    Int,
    Bool,
    Char,
    Proc,
    Event,
    Datatype(DatatypeId),
    Set(T),
    Sequence(T),
    Tuple(Parts),
    Function(Parts, T),
    Map(T, T),
    /// `a.b`
    Dot(T, T),
    /// `a => b`: becomes `b` after a dot and an `a`.
    Dotable(T, T),
    /// `v =>* a`: some `x => y => … => a`. The variable is bound to `NoDots` or `x => v'` when it is known.
    Extendable(T, T),
    /// The end of what the variable of an extendable type is bound to.
    NoDots,
}

impl Node {
    /// Whether it consumes what follows it after a dot, or may.
    pub(super) fn is_consumer(self) -> bool {
        matches!(self, Node::Dotable(..) | Node::Extendable(..) | Node::Wrong)
    }
}

pub(super) struct Arena {
    nodes: Vec<Node>,
    /// The place that made each node.
    origins: Vec<Span>,
    lists: Vec<T>,
    /// When a node was last seen by a walk.
    seen: Vec<u32>,
    walk: u32,
    pub(super) level: u32,
    /// The place that nodes are made for.
    pub(super) here: Span,
    /// Work done, to refuse types that explode.
    pub(super) steps: u64,
}

impl Arena {
    pub(super) fn new(here: Span) -> Arena {
        Arena {
            nodes: Vec::new(),
            origins: Vec::new(),
            lists: Vec::new(),
            seen: Vec::new(),
            walk: 0,
            level: 0,
            here,
            steps: 0,
        }
    }

    pub(super) fn make(&mut self, node: Node) -> T {
        self.nodes.push(node);
        self.origins.push(self.here);
        self.seen.push(0);
        T(self.nodes.len() as u32 - 1)
    }

    pub(super) fn origin(&self, t: T) -> Span {
        self.origins[t.0 as usize]
    }

    pub(super) fn fresh(&mut self) -> T {
        self.fresh_with(0)
    }

    pub(super) fn fresh_with(&mut self, constraints: Constraints) -> T {
        self.make(Node::Variable { constraints, level: self.level, rigid: None })
    }

    pub(super) fn list(&mut self, parts: &[T]) -> Parts {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(parts);
        Parts { start, len: parts.len() as u32 }
    }

    pub(super) fn parts(&self, parts: Parts) -> &[T] {
        &self.lists[parts.start as usize..(parts.start + parts.len) as usize]
    }

    pub(super) fn part(&self, parts: Parts, at: usize) -> T {
        self.lists[parts.start as usize + at]
    }

    pub(super) fn set(&mut self, element: T) -> T {
        self.make(Node::Set(element))
    }

    pub(super) fn sequence(&mut self, element: T) -> T {
        self.make(Node::Sequence(element))
    }

    pub(super) fn tuple(&mut self, parts: &[T]) -> T {
        let parts = self.list(parts);
        self.make(Node::Tuple(parts))
    }

    pub(super) fn function(&mut self, arguments: &[T], result: T) -> T {
        let arguments = self.list(arguments);
        self.make(Node::Function(arguments, result))
    }

    /// Follows links.
    pub(super) fn find(&mut self, mut t: T) -> T {
        while let Node::Link(next) = self.nodes[t.0 as usize] {
            if let Node::Link(after) = self.nodes[next.0 as usize] {
                self.nodes[t.0 as usize] = Node::Link(after);
            }
            t = next;
        }
        t
    }

    /// The node itself, links and known extensions followed.
    pub(super) fn head(&mut self, t: T) -> T {
        let mut t = self.find(t);
        while let Node::Extendable(base, variable) = self.nodes[t.0 as usize] {
            let variable = self.find(variable);
            match self.nodes[variable.0 as usize] {
                Node::NoDots => {
                    self.nodes[t.0 as usize] = Node::Link(base);
                    t = self.find(base);
                }
                Node::Dotable(argument, rest) => {
                    let here = std::mem::replace(&mut self.here, self.origins[t.0 as usize]);
                    let rest = self.make(Node::Extendable(base, rest));
                    self.here = here;
                    self.nodes[t.0 as usize] = Node::Dotable(argument, rest);
                }
                _ => {
                    self.nodes[t.0 as usize] = Node::Extendable(base, variable);
                    break;
                }
            }
        }
        t
    }

    /// The node of [`Arena::head`].
    pub(super) fn node(&mut self, t: T) -> Node {
        let t = self.head(t);
        self.nodes[t.0 as usize]
    }

    /// The node of a `T` that is a head already.
    pub(super) fn raw(&self, t: T) -> Node {
        self.nodes[t.0 as usize]
    }

    /// Makes a node a link to another, or changes a variable.
    pub(super) fn write(&mut self, t: T, node: Node) {
        self.nodes[t.0 as usize] = node;
    }

    pub(super) fn link(&mut self, from: T, to: T) {
        if from != to {
            self.nodes[from.0 as usize] = Node::Link(to);
        }
    }

    pub(super) fn is_variable(&mut self, t: T) -> bool {
        matches!(self.node(t), Node::Variable { .. })
    }

    /// The children of a head.
    pub(super) fn children(&self, t: T) -> ([Option<T>; 2], &[T]) {
        match self.nodes[t.0 as usize] {
            Node::Set(a) | Node::Sequence(a) | Node::Link(a) => ([Some(a), None], &[]),
            Node::Tuple(parts) => ([None, None], self.parts(parts)),
            Node::Function(parts, result) => ([Some(result), None], self.parts(parts)),
            Node::Map(a, b) | Node::Dot(a, b) | Node::Dotable(a, b) | Node::Extendable(a, b) => {
                ([Some(a), Some(b)], &[])
            }
            _ => ([None, None], &[]),
        }
    }

    /// Visits each node that a type consists of once, until the visitor says stop.
    pub(super) fn walk(&mut self, t: T, mut visit: impl FnMut(&mut Arena, T) -> bool) {
        self.walk += 1;
        let mut waiting = vec![t];
        while let Some(t) = waiting.pop() {
            let t = self.head(t);
            if std::mem::replace(&mut self.seen[t.0 as usize], self.walk) == self.walk {
                continue;
            }
            self.steps += 1;
            if !visit(self, t) {
                return;
            }
            let (two, list) = self.children(t);
            waiting.extend(list);
            waiting.extend(two.into_iter().flatten());
        }
    }

    /// How many nodes a type consists of, at most `most + 1`.
    pub(super) fn size(&mut self, t: T, most: usize) -> usize {
        let mut size = 0;
        self.walk(t, |_, _| {
            size += 1;
            size <= most
        });
        size
    }

    /// Whether the variable occurs in the type; if not, everything in the type gets the variable's level at most.
    pub(super) fn occurs(&mut self, variable: T, t: T) -> bool {
        let Node::Variable { level, .. } = self.nodes[variable.0 as usize] else { return false };
        let mut found = false;
        self.walk(t, |arena, at| {
            found = at == variable;
            if let Node::Variable { constraints, level: its, rigid } = arena.nodes[at.0 as usize]
                && its > level
                && its != GENERIC
            {
                arena.nodes[at.0 as usize] = Node::Variable { constraints, level, rigid };
            }
            !found
        });
        found
    }

    /// Generalises what is deeper than the current level.
    pub(super) fn generalise(&mut self, t: T) {
        let level = self.level;
        self.walk(t, |arena, at| {
            if let Node::Variable { constraints, level: its, .. } = arena.nodes[at.0 as usize]
                && its > level
            {
                arena.nodes[at.0 as usize] = Node::Variable { constraints, level: GENERIC, rigid: None };
            }
            true
        });
    }

    /// Whether some part of a type is wrong.
    pub(super) fn has_wrong(&mut self, t: T) -> bool {
        let mut found = false;
        self.walk(t, |arena, at| {
            found = matches!(arena.nodes[at.0 as usize], Node::Wrong);
            !found
        });
        found
    }

    /// Whether a type has generalised variables.
    pub(super) fn is_generic(&mut self, t: T) -> bool {
        let mut found = false;
        self.walk(t, |arena, at| {
            found = matches!(arena.nodes[at.0 as usize], Node::Variable { level: GENERIC, .. });
            !found
        });
        found
    }

    /// A copy with other variables and datatypes. What is not changed is shared.
    pub(super) fn copy(&mut self, t: T, copier: &mut impl FnMut(&mut Arena, Node, T) -> T) -> T {
        let mut done: HashMap<T, T, RandomState> = HashMap::default();
        self.copy_into(t, copier, &mut done)
    }

    fn copy_into(
        &mut self,
        t: T,
        copier: &mut impl FnMut(&mut Arena, Node, T) -> T,
        done: &mut HashMap<T, T, RandomState>,
    ) -> T {
        let t = self.head(t);
        let node = self.nodes[t.0 as usize];
        if matches!(node, Node::Int | Node::Bool | Node::Char | Node::Proc | Node::Event | Node::Wrong | Node::NoDots) {
            return t;
        }
        if let Some(&copied) = done.get(&t) {
            return copied;
        }
        self.steps += 1;
        let copied = stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || match node {
            Node::Variable { .. } | Node::Datatype(_) => copier(self, node, t),
            Node::Set(a) => self.copied_one(t, a, copier, done, Node::Set),
            Node::Sequence(a) => self.copied_one(t, a, copier, done, Node::Sequence),
            Node::Tuple(parts) => match self.copied_parts(parts, copier, done) {
                Some(parts) => self.make(Node::Tuple(parts)),
                None => t,
            },
            Node::Function(parts, result) => {
                let arguments = self.copied_parts(parts, copier, done);
                let to = self.copy_into(result, copier, done);
                if arguments.is_none() && to == self.head(result) {
                    t
                } else {
                    self.make(Node::Function(arguments.unwrap_or(parts), to))
                }
            }
            Node::Map(a, b) => self.copied_two(t, (a, b), copier, done, Node::Map),
            Node::Dot(a, b) => self.copied_two(t, (a, b), copier, done, Node::Dot),
            Node::Dotable(a, b) => self.copied_two(t, (a, b), copier, done, Node::Dotable),
            Node::Extendable(a, b) => self.copied_two(t, (a, b), copier, done, Node::Extendable),
            _ => t,
        });
        done.insert(t, copied);
        copied
    }

    fn copied_one(
        &mut self,
        t: T,
        a: T,
        copier: &mut impl FnMut(&mut Arena, Node, T) -> T,
        done: &mut HashMap<T, T, RandomState>,
        make: fn(T) -> Node,
    ) -> T {
        let copied = self.copy_into(a, copier, done);
        if copied == self.head(a) { t } else { self.make(make(copied)) }
    }

    fn copied_two(
        &mut self,
        t: T,
        (a, b): (T, T),
        copier: &mut impl FnMut(&mut Arena, Node, T) -> T,
        done: &mut HashMap<T, T, RandomState>,
        make: fn(T, T) -> Node,
    ) -> T {
        let first = self.copy_into(a, copier, done);
        let second = self.copy_into(b, copier, done);
        if first == self.head(a) && second == self.head(b) { t } else { self.make(make(first, second)) }
    }

    fn copied_parts(
        &mut self,
        parts: Parts,
        copier: &mut impl FnMut(&mut Arena, Node, T) -> T,
        done: &mut HashMap<T, T, RandomState>,
    ) -> Option<Parts> {
        let mut copied = Vec::with_capacity(parts.len());
        let mut changed = false;
        for at in 0..parts.len() {
            let part = self.part(parts, at);
            let new = self.copy_into(part, copier, done);
            changed |= new != self.head(part);
            copied.push(new);
        }
        changed.then(|| self.list(&copied))
    }

    /// A copy with new variables for the generalised ones.
    pub(super) fn instantiate(&mut self, t: T) -> T {
        self.copy(t, &mut |arena, node, t| match node {
            Node::Variable { constraints, level: GENERIC, .. } => arena.fresh_with(constraints),
            _ => t,
        })
    }
}
