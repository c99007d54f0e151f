//! Which constants of the datatypes that an assertion reaches are interchangeable, as the text shows it.
//!
//! A script is *constant-free* for a set of constants when none of them is named outside the declaration of its
//! datatype, and no built-in is used that can tell them apart. Then every permutation of the set is a symmetry of every
//! value in the script, and of every process (Gibson-Robinson and Lowe, *Symmetry reduction in CSP model checking*,
//! 2019, definition 23 and proposition 24; the proof over all of CSPM is in the report of 2017, definition 43 and
//! proposition 71). The set need not be a whole datatype: constants that are named are left out, and those that remain
//! are a subtype for which the script is constant-free.
//!
//! # Where this departs from the paper
//!
//! - It looks at what an assertion reaches ([`super::reach`]) and not at the whole script.
//! - A `subtype` that lists constants is no use of them: permutations that keep the subtype are symmetries of it. So
//!   constants are divided into *classes* by the subtypes that they belong to; each class is a distinguished subtype.
//! - The built-ins `seq`, `mapToList`, `mtransclose` and `show` are allowed on what cannot hold constants of the
//!   datatype, seen through the uses of polymorphic functions too, and the compressions `chase`, `chase_nocache`,
//!   `deter` and `model_compress` on processes that cannot ([`super::involvement`]). The argument of `error` is not
//!   looked at.
//!
//! Comparisons by `<` and its like need no rule: the order of sequences is by prefix and that of sets and maps by
//! inclusion, which every permutation respects, and constants of datatypes have no order, which the type checker says.
//!
//! Constructors with fields are not moved; they may be named freely, and permutations act on what their fields hold.

use trefoil_source::Span;

use super::involvement::Involvement;
use super::reach::{Mention, Reach, Reacher};
use crate::rename::{Builtin, DefinitionId, DefinitionKind, Resolved};
use crate::syntax::{Declaration, ExpressionId};
use crate::types::Typed;

/// A reason why constants are not interchangeable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoiler {
    /// A constant is named as a value.
    Named,
    /// A constant is named in a pattern.
    Matched,
    /// A built-in that can distinguish the constants of the datatype.
    Builtin(Builtin),
    /// A subtype has some constants and lacks others.
    Subtype {
        /// Its name.
        name: String,
        /// The places of the constants that it has, among those of the datatype.
        has: Vec<usize>,
    },
}

/// A place that breaks the symmetry of constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The reason.
    pub spoiler: Spoiler,
    /// The constant, by its place among those of the datatype; none when all are concerned.
    pub constant: Option<usize>,
    /// Where.
    pub span: Span,
    /// The definition in which it stands.
    pub within: Option<String>,
}

/// A constant of a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its definition.
    pub definition: DefinitionId,
    /// Its name.
    pub name: String,
}

/// The interchangeable constants of a datatype, and the reasons against others.
#[derive(Clone, Debug)]
pub struct TypeSymmetry {
    /// The datatype; one of a module with parameters stands for those of all instances.
    pub datatype: DefinitionId,
    /// Its name.
    pub name: String,
    /// Its constants, in order.
    pub constants: Vec<Constant>,
    /// Constants that are interchangeable with each other, by their places: classes, the largest first. What is in none
    /// was named.
    pub classes: Vec<Vec<usize>>,
    /// The places that break the symmetry, in the order of the script.
    pub breaks: Vec<Break>,
}

impl TypeSymmetry {
    /// The constants of the largest class.
    pub fn symmetric(&self) -> impl Iterator<Item = &Constant> {
        self.classes.first().into_iter().flatten().map(|&at| &self.constants[at])
    }

    /// The places that break the symmetry of these constants, given by their places; none if they are interchangeable.
    pub fn against(&self, constants: &[usize]) -> Vec<&Break> {
        let concerns = |found: &&Break| match (&found.spoiler, found.constant) {
            (Spoiler::Subtype { has, .. }, _) => {
                let inside = constants.iter().filter(|constant| has.contains(constant)).count();
                inside > 0 && inside < constants.len()
            }
            (_, Some(constant)) => constants.contains(&constant),
            (_, None) => true,
        };
        // A single constant can only be exchanged with itself, but the caller wants to know where it is named.
        self.breaks.iter().filter(concerns).collect()
    }

    /// What spoils symmetry somewhere: for each constant that is in no class or not in the largest one, why.
    pub fn excluded(&self) -> Vec<(usize, Vec<&Break>)> {
        let largest = self.classes.first().map_or(&[][..], Vec::as_slice);
        let mut excluded = Vec::new();
        for at in (0..self.constants.len()).filter(|at| !largest.contains(at)) {
            let concerns = |found: &&Break| match &found.spoiler {
                Spoiler::Subtype { has, .. } => {
                    largest.first().is_some_and(|other| has.contains(&at) != has.contains(other))
                }
                _ => found.constant.is_none_or(|constant| constant == at),
            };
            excluded.push((at, self.breaks.iter().filter(concerns).collect()));
        }
        excluded
    }
}

impl Break {
    /// In words, for the datatype it belongs to.
    pub fn describe(&self, of: &TypeSymmetry) -> String {
        let named = |at: usize| of.constants.get(at).map_or("", |constant| constant.name.as_str());
        let mut words = match (&self.spoiler, self.constant) {
            (Spoiler::Named, Some(constant)) => format!("`{}` is named", named(constant)),
            (Spoiler::Matched, Some(constant)) => format!("`{}` is named in a pattern", named(constant)),
            (Spoiler::Builtin(builtin), _) => {
                let does = match builtin {
                    Builtin::SeqOf => "lists a set in an order",
                    Builtin::MapToList => "lists a map in an order",
                    Builtin::Show => "makes text of values",
                    Builtin::Mtransclose => "chooses representatives",
                    _ => "prunes a process by an order",
                };
                let what = if builtin.prunes() { "of a process that can use" } else { "of what can hold" };
                format!("`{}` {does} that the script does not give, {what} constants of `{}`", builtin.text(), of.name)
            }
            (Spoiler::Subtype { name, has }, _) => {
                let lacks = (0..of.constants.len()).find(|at| !has.contains(at)).map(named).unwrap_or_default();
                let has = has.first().map(|&at| named(at)).unwrap_or_default();
                format!("the subtype `{name}` has `{has}` and not `{lacks}`")
            }
            (_, None) => "the script distinguishes its constants".to_string(),
        };
        if let Some(within) = &self.within {
            words.push_str(&format!(", in `{within}`"));
        }
        words
    }
}

/// Analyses assertions of one script.
pub struct Analysis<'t> {
    typed: &'t Typed,
    reacher: Reacher<'t>,
}

impl<'t> Analysis<'t> {
    /// For a script without mistakes.
    pub fn new(typed: &'t Typed) -> Analysis<'t> {
        Analysis { typed, reacher: Reacher::new(typed.renamed()) }
    }

    /// The datatypes that expressions reach, in the order of the script.
    pub fn of(&self, roots: &[ExpressionId]) -> Vec<TypeSymmetry> {
        let reach = self.reacher.reach(roots);
        let renamed = self.typed.renamed();
        let is_datatype = |id: &DefinitionId| renamed.definition(*id).kind == DefinitionKind::Datatype;
        let datatypes: Vec<DefinitionId> = reach.definitions().into_iter().filter(is_datatype).collect();
        let mut types: Vec<TypeSymmetry> = datatypes.iter().map(|&id| self.datatype(id)).collect();
        self.mentions(&reach, &mut types);
        self.subtypes(&reach, &mut types);
        let with_constants: Vec<DefinitionId> =
            types.iter().filter(|of| !of.constants.is_empty()).map(|of| of.datatype).collect();
        let involvement = Involvement::new(self.typed, &self.reacher, &reach);
        for used in &reach.used {
            for datatype in involvement.of(used, &with_constants) {
                let spoiler = Spoiler::Builtin(used.builtin);
                let found = Break { spoiler, constant: None, span: used.span, within: self.within(used.within) };
                types.iter_mut().filter(|of| of.datatype == datatype).for_each(|of| of.breaks.push(found.clone()));
            }
        }
        for of in &mut types {
            of.breaks.sort_by_key(|found| (found.span.file, found.span.start, found.constant));
            of.classes = classes(of);
        }
        types
    }

    /// One datatype; it is symmetric if it is not reached.
    pub fn of_datatype(&self, roots: &[ExpressionId], datatype: DefinitionId) -> TypeSymmetry {
        let found = self.of(roots).into_iter().find(|of| of.datatype == datatype);
        found.unwrap_or_else(|| {
            let mut of = self.datatype(datatype);
            of.classes = classes(&of);
            of
        })
    }

    fn within(&self, definition: Option<DefinitionId>) -> Option<String> {
        definition.map(|id| self.typed.renamed().qualified(id))
    }

    fn datatype(&self, datatype: DefinitionId) -> TypeSymmetry {
        let renamed = self.typed.renamed();
        let mut constants = Vec::new();
        if let Declaration::Datatype { constructors, .. } =
            *renamed.tree().declaration(renamed.definition(datatype).declaration)
        {
            for constructor in renamed.tree().list(constructors) {
                if let (Resolved::Definition(definition), None) = (constructor.name.name, constructor.fields) {
                    constants.push(Constant { definition, name: renamed.qualified(definition) });
                }
            }
        }
        let name = renamed.qualified(datatype);
        TypeSymmetry { datatype, name, constants, classes: Vec::new(), breaks: Vec::new() }
    }

    /// Constants that are named.
    fn mentions(&self, reach: &Reach, types: &mut [TypeSymmetry]) {
        for named in &reach.named {
            let Some((of, at)) = place_of(types, self.typed, named.constructor) else { continue };
            let spoiler = match named.how {
                Mention::Expression => Spoiler::Named,
                Mention::Pattern => Spoiler::Matched,
            };
            let within = self.within(named.within);
            of.breaks.push(Break { spoiler, constant: Some(at), span: named.span, within });
        }
    }

    /// Subtypes that have some constants and not all.
    fn subtypes(&self, reach: &Reach, types: &mut [TypeSymmetry]) {
        let renamed = self.typed.renamed();
        for id in reach.definitions() {
            let definition = renamed.definition(id);
            let Declaration::Subtype { constructors, .. } = *renamed.tree().declaration(definition.declaration) else {
                continue;
            };
            if definition.kind != DefinitionKind::Subtype {
                continue;
            }
            let mut has: Vec<(DefinitionId, usize)> = Vec::new();
            for constructor in renamed.tree().list(constructors) {
                if let Resolved::Definition(name) = constructor.name.name
                    && let Some((of, at)) = place_of(types, self.typed, name)
                {
                    has.push((of.datatype, at));
                }
            }
            for of in types.iter_mut() {
                let mut has: Vec<usize> =
                    has.iter().filter(|(datatype, _)| *datatype == of.datatype).map(|&(_, at)| at).collect();
                has.sort_unstable();
                has.dedup();
                if !has.is_empty() && has.len() < of.constants.len() {
                    let spoiler = Spoiler::Subtype { name: renamed.qualified(id), has };
                    of.breaks.push(Break { spoiler, constant: None, span: definition.span, within: None });
                }
            }
        }
    }
}

/// The datatype of a constant and its place there; none for constructors with fields.
fn place_of<'t>(
    types: &'t mut [TypeSymmetry],
    typed: &Typed,
    constructor: DefinitionId,
) -> Option<(&'t mut TypeSymmetry, usize)> {
    let renamed = typed.renamed();
    let plain = match renamed.definition(constructor).kind {
        DefinitionKind::Member { of, .. } => of,
        _ => constructor,
    };
    let DefinitionKind::Constructor { datatype, .. } = renamed.definition(plain).kind else { return None };
    let of = types.iter_mut().find(|of| of.datatype == datatype)?;
    let at = of.constants.iter().position(|constant| constant.definition == plain)?;
    Some((of, at))
}

/// Constants that are not named, divided by the subtypes they belong to; the largest class first, then in order.
fn classes(of: &TypeSymmetry) -> Vec<Vec<usize>> {
    let spoiled = |found: &Break| matches!(found.spoiler, Spoiler::Builtin(_));
    if of.breaks.iter().any(spoiled) {
        return Vec::new();
    }
    let subtypes: Vec<&Vec<usize>> = of
        .breaks
        .iter()
        .filter_map(|found| match &found.spoiler {
            Spoiler::Subtype { has, .. } => Some(has),
            _ => None,
        })
        .collect();
    let mut classes: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
    for at in 0..of.constants.len() {
        if of.breaks.iter().any(|found| found.constant == Some(at)) {
            continue;
        }
        let signature: Vec<bool> = subtypes.iter().map(|has| has.contains(&at)).collect();
        match classes.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, class)) => class.push(at),
            None => classes.push((signature, vec![at])),
        }
    }
    let mut classes: Vec<Vec<usize>> = classes.into_iter().map(|(_, class)| class).collect();
    classes.sort_by_key(|class| std::cmp::Reverse(class.len()));
    classes
}
