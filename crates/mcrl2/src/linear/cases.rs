//! Parameters of a sort with several constructors, and lists of bounded length: one parameter says which *shape* a
//! value has, a constructor or a length, and the others hold the fields of all shapes. A field that is not in use holds
//! one fixed value, so values and their parts are in bijection, and the state space stays the same up to isomorphism.
//!
//! mCRL2's lpsparunfold puts a function that distinguishes cases in the place of the parameter, and leaves it to
//! rewrite rules to bring it outwards (Groote and Lisser, *Computer assisted manipulation of algebraic process
//! specifications*, 2001; Stramaglia, Keiren, Neele, *Simplifying process parameters by unfolding algebraic data
//! types*, 2023). Here a summand that depends on the parameter is parted by shape instead: in each part the parameter
//! is a constructor over its fields, or a list with this many elements, so that recognisers, projections, equality and
//! every function that matches patterns simplify as they do on values, and no cases are left to distinguish. A part
//! whose condition is false goes. A new value must be a constructor over terms. `if(c, t, u)` parts the summand by `c`,
//! a summed variable by its constructors; a parameter of the same sort is taken apart together with this one.
//!
//! Which shapes there are is found as states are found in a search: beginning with the initial value, the parts for the
//! shapes that were met bring the next ones. That is the proof that a list is bounded: `#q < 2` is false for the list
//! with two positions, so no part brings a third. A list that reaches [`LONGEST`] stays whole. A sort that occurs in
//! its own fields stays whole, because there is no such bound for it.
//!
//! Where it helps: some part of a summand neither reads nor writes a field of the shape that it begins with. Of a list,
//! at least half of the positions must be left alone like this, counted over all parts of summands: in a stack or a
//! queue every operation at the front shifts all positions, so that its groups would read and write all of them. It is
//! not done where summands would multiply ([`GROWTH`]), where terms would grow, or where an expression needs a list as
//! a whole, because that would be built anew at each evaluation.
//!
//! Cost: for each summand, the combinations of shapes that its parameters were met with.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use trefoil_data::rewrite::View;
use trefoil_data::signature::Operator;
use trefoil_data::sorts::{POS, SortRef};
use trefoil_terms::Term;

use super::Refusal;
use super::apart::Cases;
use super::draft::{Draft, DraftParameter, DraftSummand, state_term};
use super::expressions::{Environment, Expressions, Variable};
use super::unfold::{Made, Parted, terms};

/// The most elements of a list that is taken apart.
const LONGEST: usize = 8;

/// The most fields of all shapes together.
const MOST_FIELDS: usize = 24;

/// Summands that use a parameter, and the size of their terms, may grow by this factor.
const GROWTH: u64 = 2;

/// The most parameters that are taken apart together.
const MOST_TOGETHER: usize = 12;

/// A shape, and the values of its fields.
type Shaped = (usize, Vec<Term>);

/// What came of an attempt.
enum Outcome {
    Made(Made),
    Stays,
    /// Another parameter must be taken apart, too.
    Needs(usize),
}

/// Takes a parameter apart by its shapes, where that helps.
pub(super) fn by_shape(draft: &Draft, x: &mut Expressions<'_>, at: usize) -> Result<Option<Made>, Refusal> {
    let sort = x.described(draft.parameters[at].variable).sort;
    let Some(cases) = x.cases(sort) else { return Ok(None) };
    let mut together = vec![at];
    while together.len() <= MOST_TOGETHER {
        let Some(mut attempt) = Attempt::new(draft, x, Rc::clone(&cases), &together)? else { return Ok(None) };
        match attempt.run(draft, x)? {
            Outcome::Made(made) => return Ok(Some(made)),
            Outcome::Stays => return Ok(None),
            Outcome::Needs(other) => together.push(other),
        }
    }
    Ok(None)
}

/// A field of some shape.
struct Field {
    name: String,
    sort: SortRef,
    /// What it holds while it is not in use.
    unused: Term,
}

/// A parameter that is being taken apart.
struct Member {
    at: usize,
    variable: Variable,
    /// Says which shape the value has.
    tag: Variable,
    fields: Vec<Variable>,
    /// The shapes that were met, in order.
    met: BTreeSet<usize>,
}

/// A summand for one shape of each parameter it uses, and the shapes and fields that it leads to.
struct Instance {
    summand: DraftSummand,
    /// By member: the shape before, where the summand depends on it.
    from: BTreeMap<usize, usize>,
    to: BTreeMap<usize, Shaped>,
}

/// What a term is as a value.
enum Form {
    Shape(usize, Vec<Term>),
    Choice(Term, Term, Term),
    Variable(Variable),
    Other,
}

struct Attempt {
    cases: Rc<Cases>,
    fields: Vec<Field>,
    members: Vec<Member>,
    /// Summands in which some members have shapes, by the number of the summand and these shapes; nothing where the
    /// condition is false.
    placed: HashMap<(usize, Vec<usize>), Option<DraftSummand>>,
}

impl Attempt {
    fn new(
        draft: &Draft,
        x: &mut Expressions<'_>,
        cases: Rc<Cases>,
        together: &[usize],
    ) -> Result<Option<Attempt>, Refusal> {
        let mut fields = Vec::new();
        let described: Vec<(String, SortRef)> = match &*cases {
            Cases::List { element, .. } => (0..LONGEST).map(|place| (place.to_string(), *element)).collect(),
            Cases::Constructors(all) => all.iter().flat_map(|one| one.fields.iter().cloned()).collect(),
        };
        if described.len() > MOST_FIELDS {
            return Ok(None);
        }
        for (name, sort) in described {
            let Some(unused) = x.default(sort) else { return Ok(None) };
            fields.push(Field { name, sort, unused });
        }
        let mut members = Vec::new();
        for &at in together {
            let parameter = &draft.parameters[at];
            let name = x.described(parameter.variable).name.clone();
            let kind = if matches!(*cases, Cases::List { .. }) { "length" } else { "case" };
            let tag = x.variable(&format!("{name}_{kind}"), POS);
            let fields = fields.iter().map(|field| x.variable(&format!("{name}_{}", field.name), field.sort)).collect();
            members.push(Member { at, variable: parameter.variable, tag, fields, met: BTreeSet::new() });
        }
        Ok(Some(Attempt { cases, fields, members, placed: HashMap::new() }))
    }

    /// The fields of a shape, by their places.
    fn of_shape(&self, shape: usize) -> Range<usize> {
        match &*self.cases {
            Cases::List { .. } => 0..shape,
            Cases::Constructors(all) => {
                let first = all[..shape].iter().map(|one| one.fields.len()).sum();
                first..first + all[shape].fields.len()
            }
        }
    }

    /// The value of a shape with these fields.
    fn whole(&self, x: &mut Expressions<'_>, shape: usize, values: &[Term]) -> Result<Term, Refusal> {
        match &*self.cases {
            Cases::List { empty, cons, .. } => {
                let mut list = x.value(*empty, &Environment::new())?;
                for &value in values.iter().rev() {
                    list = x.value(cons.0, &Environment::from([(cons.1, value), (cons.2, list)]))?;
                }
                Ok(list)
            }
            Cases::Constructors(all) => {
                let (expression, variables) = &all[shape].whole;
                x.value(*expression, &variables.iter().copied().zip(values.iter().copied()).collect())
            }
        }
    }

    fn form(&self, x: &Expressions<'_>, term: Term) -> Form {
        if let Some(variable) = x.as_variable(term) {
            return Form::Variable(variable);
        }
        let section = x.rewriter.section();
        if let Some(Operator::If) = x.program.applied_operator(section, term) {
            let parts: Vec<Term> = section.arguments(term).iter().collect();
            return Form::Choice(parts[0], parts[1], parts[2]);
        }
        match &*self.cases {
            Cases::List { .. } => {
                let (mut values, mut rest) = (Vec::new(), term);
                while let Some(Operator::Cons) = x.program.applied_operator(section, rest) {
                    let parts: Vec<Term> = section.arguments(rest).iter().collect();
                    values.push(parts[0]);
                    rest = parts[1];
                }
                match x.program.applied_operator(section, rest) {
                    Some(Operator::EmptyList) => Form::Shape(values.len(), values),
                    _ => Form::Other,
                }
            }
            Cases::Constructors(all) => match x.program.view(section, term) {
                View::Applied(function) => match all.iter().position(|one| one.function == function) {
                    Some(shape) => Form::Shape(shape, section.arguments(term).iter().collect()),
                    None => Form::Other,
                },
                _ => Form::Other,
            },
        }
    }

    /// Notes that a shape is met; false where a list is too long.
    fn meet(&mut self, member: usize, shape: usize) -> bool {
        let fits = !matches!(*self.cases, Cases::List { .. }) || shape <= LONGEST;
        if fits {
            self.members[member].met.insert(shape);
        }
        fits
    }

    fn run(&mut self, draft: &Draft, x: &mut Expressions<'_>) -> Result<Outcome, Refusal> {
        for member in 0..self.members.len() {
            let initial = draft.parameters[self.members[member].at].initial;
            match self.form(x, initial) {
                Form::Shape(shape, _) if self.meet(member, shape) => {}
                _ => return Ok(Outcome::Stays),
            }
            // A constructor with equations of its own is not what it looks like.
            let Some(&shape) = self.members[member].met.first() else { return Ok(Outcome::Stays) };
            let leaves = self.leaves(x, member, shape);
            let whole = self.whole(x, shape, &leaves)?;
            match self.form(x, whole) {
                Form::Shape(found, values) if found == shape && values == leaves => {}
                _ => return Ok(Outcome::Stays),
            }
        }
        let (mut uses, mut affected) = (Vec::new(), 0);
        for summand in &draft.summands {
            let mut used = BTreeSet::new();
            let mut changes = false;
            for (number, member) in self.members.iter().enumerate() {
                let own = summand.updates.get(&member.at).copied();
                changes |= own.is_some();
                if terms(summand).into_iter().any(|term| x.free(term).contains(&member.variable)) {
                    used.insert(number);
                }
            }
            affected += usize::from(changes || !used.is_empty());
            uses.push((changes || !used.is_empty()).then(|| used.into_iter().collect::<Vec<usize>>()));
        }
        let most = GROWTH as usize * affected + 4;
        let mut instances: BTreeMap<usize, Vec<Instance>> = BTreeMap::new();
        let mut done: HashSet<(usize, Vec<usize>)> = HashSet::new();
        loop {
            x.control.check()?;
            let before = done.len();
            for (number, used) in uses.iter().enumerate() {
                let Some(used) = used else { continue };
                for shapes in self.combinations(draft, x, number, used)? {
                    if !done.insert((number, shapes.clone())) {
                        continue;
                    }
                    let from: BTreeMap<usize, usize> = used.iter().copied().zip(shapes.iter().copied()).collect();
                    let Some(Some(placed)) = self.placed.get(&(number, shapes)).cloned() else { continue };
                    match self.resolved(draft, x, placed, &from)? {
                        Ok(found) => instances.entry(number).or_default().extend(found),
                        Err(outcome) => return Ok(outcome),
                    }
                }
                if instances.values().map(Vec::len).sum::<usize>() > most {
                    return Ok(Outcome::Stays);
                }
            }
            if done.len() == before {
                break;
            }
        }
        let changed: Vec<usize> = (0..uses.len()).filter(|&number| uses[number].is_some()).collect();
        self.made(draft, x, &changed, instances)
    }

    fn leaves(&self, x: &Expressions<'_>, member: usize, shape: usize) -> Vec<Term> {
        self.of_shape(shape).map(|place| x.leaf(self.members[member].fields[place])).collect()
    }

    /// The shapes with which a summand may be enabled, of the members that it depends on.
    fn combinations(
        &mut self,
        draft: &Draft,
        x: &mut Expressions<'_>,
        number: usize,
        used: &[usize],
    ) -> Result<Vec<Vec<usize>>, Refusal> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        self.placed.entry((number, Vec::new())).or_insert_with(|| Some(draft.summands[number].clone()));
        for &member in used {
            let mut longer = Vec::new();
            for shapes in all {
                for shape in self.members[member].met.clone() {
                    let key = (number, [&shapes[..], &[shape]].concat());
                    if !self.placed.contains_key(&key) {
                        let Some(Some(before)) = self.placed.get(&(number, shapes.clone())) else { continue };
                        let mut placed = before.clone();
                        let leaves = self.leaves(x, member, shape);
                        let whole = self.whole(x, shape, &leaves)?;
                        let values = HashMap::from([(self.members[member].variable, whole)]);
                        let possible = placed.replace(x, &values)? && placed.solve(x)?;
                        self.placed.insert(key.clone(), possible.then_some(placed));
                    }
                    if let Some(Some(_)) = self.placed.get(&key) {
                        longer.push(key.1);
                    }
                }
            }
            all = longer;
        }
        Ok(all)
    }

    /// Parts a summand until every new value of a member has a shape.
    fn resolved(
        &mut self,
        draft: &Draft,
        x: &mut Expressions<'_>,
        placed: DraftSummand,
        from: &BTreeMap<usize, usize>,
    ) -> Result<Result<Vec<Instance>, Outcome>, Refusal> {
        let mut found = Vec::new();
        let mut pending = vec![placed];
        'next: while let Some(mut summand) = pending.pop() {
            if found.len() + pending.len() > 64 {
                return Ok(Err(Outcome::Stays));
            }
            let mut to = BTreeMap::new();
            for member in 0..self.members.len() {
                let at = self.members[member].at;
                let Some(&value) = summand.updates.get(&at) else { continue };
                match self.form(x, value) {
                    Form::Shape(shape, values) => {
                        if !self.meet(member, shape) {
                            return Ok(Err(Outcome::Stays));
                        }
                        to.insert(member, (shape, values));
                    }
                    Form::Choice(test, one, other) => {
                        for (condition, value) in [(x.not(test)?, other), (test, one)] {
                            let mut branch = summand.clone();
                            branch.updates.insert(at, value);
                            if x.conjuncts(condition, &mut branch.conditions)? && branch.solve(x)? {
                                pending.push(branch);
                            }
                        }
                        continue 'next;
                    }
                    Form::Variable(variable) if summand.sums.contains(&variable) => {
                        let Some(branches) = self.parted(x, &summand, variable)? else {
                            return Ok(Err(Outcome::Stays));
                        };
                        pending.extend(branches);
                        continue 'next;
                    }
                    Form::Variable(variable) => {
                        let other = draft.parameters.iter().position(|parameter| parameter.variable == variable);
                        let is_member = |other: usize| self.members.iter().any(|member| member.at == other);
                        return Ok(Err(match other {
                            Some(other) if !is_member(other) => Outcome::Needs(other),
                            _ => Outcome::Stays,
                        }));
                    }
                    Form::Other => return Ok(Err(Outcome::Stays)),
                }
            }
            for member in &self.members {
                summand.updates.remove(&member.at);
            }
            found.push(Instance { summand, from: from.clone(), to });
        }
        Ok(Ok(found))
    }

    /// A summand for each constructor of a variable that it sums over, the last one first.
    fn parted(
        &self,
        x: &mut Expressions<'_>,
        summand: &DraftSummand,
        variable: Variable,
    ) -> Result<Option<Vec<DraftSummand>>, Refusal> {
        let Cases::Constructors(all) = &*self.cases else { return Ok(None) };
        let name = x.described(variable).name.clone();
        let mut branches = Vec::new();
        for (shape, constructor) in all.iter().enumerate().rev() {
            let own: Vec<Variable> =
                constructor.fields.iter().map(|(field, sort)| x.variable(&format!("{name}_{field}"), *sort)).collect();
            let leaves: Vec<Term> = own.iter().map(|&variable| x.leaf(variable)).collect();
            let whole = self.whole(x, shape, &leaves)?;
            let mut branch = summand.clone();
            branch.sums.retain(|&other| other != variable);
            branch.sums.extend(own);
            if branch.replace(x, &HashMap::from([(variable, whole)]))? && branch.solve(x)? {
                branches.push(branch);
            }
        }
        Ok(Some(branches))
    }

    /// The new parameters and summands, where they help.
    fn made(
        &self,
        draft: &Draft,
        x: &mut Expressions<'_>,
        changed: &[usize],
        instances: BTreeMap<usize, Vec<Instance>>,
    ) -> Result<Outcome, Refusal> {
        // The tag, where there are several shapes, and the fields of the shapes that were met.
        let mut places: Vec<BTreeMap<usize, usize>> = Vec::new();
        for member in &self.members {
            let used: BTreeSet<usize> = member.met.iter().flat_map(|&shape| self.of_shape(shape)).collect();
            let first = usize::from(member.met.len() > 1);
            places.push(used.into_iter().enumerate().map(|(place, field)| (field, first + place)).collect());
        }
        if places.iter().any(BTreeMap::is_empty) {
            return Ok(Outcome::Stays);
        }
        let mut made = Made::default();
        // Over all parts of summands, the fields of the shapes that they begin with, and how many of these stay as they
        // are and unread.
        let (mut untouched, mut fields) = (0, 0);
        let mut growth = (0_u64, 0_u64);
        for &number in changed {
            let before = terms(&draft.summands[number]);
            growth.0 += before.iter().map(|&term| x.size(term)).sum::<u64>();
            made.summands.insert(number, Vec::new());
        }
        for (number, instance) in
            instances.into_iter().flat_map(|(number, all)| all.into_iter().map(move |one| (number, one)))
        {
            let Instance { mut summand, from, to } = instance;
            let mut parts: Vec<((usize, usize), Term)> = Vec::new();
            for (&member, (shape, values)) in &to {
                let (own, described) = (&self.members[member], &places[member]);
                let before = from.get(&member).copied();
                if own.met.len() > 1 && before != Some(*shape) {
                    parts.push(((own.at, 0), state_term(x, *shape)));
                }
                let is_own = self.of_shape(*shape);
                for (&field, &place) in described {
                    let value = match is_own.contains(&field) {
                        true => values[field - is_own.start],
                        false => self.fields[field].unused,
                    };
                    let in_use = before.map(|before| self.of_shape(before).contains(&field));
                    let stays = match in_use {
                        Some(true) => value == x.leaf(own.fields[field]),
                        Some(false) => value == self.fields[field].unused,
                        None => false,
                    };
                    if !stays {
                        parts.push(((own.at, place), value));
                    }
                }
            }
            let mut after = terms(&summand);
            after.extend(parts.iter().map(|&(_, value)| value));
            if matches!(*self.cases, Cases::List { .. }) && terms(&summand).iter().any(|&t| self.has_list(x, t)) {
                return Ok(Outcome::Stays);
            }
            growth.1 += after.iter().map(|&term| x.size(term)).sum::<u64>();
            let read: BTreeSet<Variable> = after.iter().flat_map(|&term| x.free(term).to_vec()).collect();
            for (&member, &shape) in &from {
                let (own, described) = (&self.members[member], &places[member]);
                let is_untouched = |&field: &usize| {
                    let written = parts.iter().any(|&(place, _)| place == (own.at, described[&field]));
                    !read.contains(&own.fields[field]) && !written
                };
                fields += self.of_shape(shape).len();
                untouched += self.of_shape(shape).filter(is_untouched).count();
                if own.met.len() > 1 {
                    let (tag, value) = (x.leaf(own.tag), state_term(x, shape));
                    let test = x.equal(POS, tag, value)?;
                    summand.conditions.push(test);
                }
            }
            made.summands.entry(number).or_default().push(Parted { summand, parts: parts.into_iter().collect() });
        }
        let helps = match &*self.cases {
            Cases::List { .. } => untouched > 0 && 2 * untouched >= fields,
            Cases::Constructors(_) => untouched > 0,
        };
        if !helps || growth.1 > GROWTH * growth.0 + 8 * changed.len() as u64 {
            return Ok(Outcome::Stays);
        }
        for (member, described) in self.members.iter().zip(&places) {
            let parameter = &draft.parameters[member.at];
            let Form::Shape(initial, values) = self.form(x, parameter.initial) else { return Ok(Outcome::Stays) };
            // A shape that is never met cannot be what the parts hold while nothing reads them; any value can.
            let idle = parameter.idle.map(|idle| match self.form(x, idle) {
                Form::Shape(shape, values) if member.met.contains(&shape) => (shape, values),
                _ => (initial, values.clone()),
            });
            let initial = (initial, values);
            let mut own = Vec::new();
            let part = |variable: Variable, of: &dyn Fn(&Shaped) -> Term| DraftParameter {
                variable,
                component: parameter.component,
                initial: of(&initial),
                idle: idle.as_ref().map(of),
                control: None,
            };
            if member.met.len() > 1 {
                own.push(part(member.tag, &|(shape, _)| state_term(x, *shape)));
            }
            for &field in described.keys() {
                own.push(part(member.fields[field], &|(shape, values)| {
                    let is_own = self.of_shape(*shape);
                    if is_own.contains(&field) { values[field - is_own.start] } else { self.fields[field].unused }
                }));
            }
            let name = &x.described(member.variable).name;
            let how = match &*self.cases {
                Cases::List { .. } => {
                    let lengths: Vec<String> = member.met.iter().map(ToString::to_string).collect();
                    format!("`{name}` by its length ({})", lengths.join(", "))
                }
                Cases::Constructors(all) => {
                    let names: Vec<&str> = member.met.iter().map(|&shape| &*all[shape].name).collect();
                    format!("`{name}` by its constructors ({})", names.join(", "))
                }
            };
            made.said.push(how);
            made.parameters.insert(member.at, own);
        }
        Ok(Outcome::Made(made))
    }

    /// Whether a term builds a list of fields.
    fn has_list(&self, x: &mut Expressions<'_>, term: Term) -> bool {
        let own: BTreeSet<Variable> = self.members.iter().flat_map(|member| member.fields.iter().copied()).collect();
        let (mut pending, mut met) = (vec![term], HashSet::new());
        while let Some(term) = pending.pop() {
            if !met.insert(term) || !x.free(term).iter().any(|variable| own.contains(variable)) {
                continue;
            }
            let section = x.rewriter.section();
            if let Some(Operator::Cons) = x.program.applied_operator(section, term) {
                return true;
            }
            pending.extend(section.arguments(term).iter());
        }
        false
    }
}
