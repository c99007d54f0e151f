//! Posed questions: an engine is chosen and prepared, and answers for the systems that a front end offers.

use std::sync::Arc;

use trefoil_control::{Control, Stopped};
use trefoil_questions::{Answer, Asked, Engine, Facts, Found, Prepared, Question, Ready, Task, Terms, Unanswered};
use trefoil_symmetry::{STRATEGIES, Strategy, strategy_named};
use trefoil_system::{Cut, LabelId, Labels, System};

use crate::choose::Chosen;
use crate::price::{Paid, while_it_pays};
use crate::quotient::in_quotient;
use crate::reduction::{Reduces, Reduction};
use crate::replay::replay;
use crate::table::{Row, Table};
use crate::takeover::Takeover;

/// A question with the engine that answers it.
pub struct Posed<'q> {
    question: Question<'q>,
    engine: &'q dyn Engine,
    prepared: Box<dyn Prepared + 'q>,
    reduction: Option<Reduces>,
    strategy: &'static Strategy,
    why: String,
    notes: Vec<String>,
    /// The engine that takes over where the chosen one cannot go on.
    takeover: Option<Takeover>,
}

/// The systems that a front end offers for a search.
pub struct Offered<'s> {
    /// The system itself.
    pub system: Arc<dyn System>,
    /// A reduction of it, of the sort that the posed question wants, if there is one that was proved right.
    pub reduction: Option<&'s dyn Reduction>,
    /// Whether the user demands the reduction: then nothing else is tried where it cannot be used.
    pub insisted: bool,
}

impl<'q> Posed<'q> {
    /// Chooses an engine and prepares it. Options that it does not honour are ignored: the caller reports them
    /// beforehand ([`Table::unusable`]).
    pub fn new(
        table: &'q Table,
        question: Question<'q>,
        facts: &Facts,
        asked: &Asked,
        threads: usize,
        control: &Control,
    ) -> Result<Posed<'q>, Unanswered> {
        let facts = facts.with(&question);
        let chosen = table.choose(question.kind(), &facts, asked).map_err(Unanswered::Refused)?;
        let Chosen { rows, reduction, honoured, .. } = chosen;
        let strategy = match honoured.strategy {
            None => &STRATEGIES[0],
            Some(name) => {
                strategy_named(name).ok_or_else(|| Unanswered::refused(format!("there is no strategy {name}")))?
            }
        };
        let takeover = table.takeover(question.kind(), &facts, &honoured, threads);
        let terms = Terms { asked: &honoured, threads, symmetric: reduction == Some(Reduces::Symmetry) };
        let mut notes = Vec::new();
        let mut waiting = rows.iter();
        while let Some(Row { engine, .. }) = waiting.next() {
            let posed = |engine: &'q dyn Engine, prepared, why, notes, takeover| Posed {
                takeover,
                question,
                engine,
                prepared,
                reduction,
                strategy,
                why,
                notes,
            };
            match engine.prepare(question, &terms, control)? {
                Ready::Ready(prepared) => {
                    let reason = reason(*engine, &facts, asked);
                    let why = notes.first().map_or(reason, |given_up: &String| given_up.clone());
                    return Ok(posed(*engine, prepared, why, notes, takeover));
                }
                Ready::GaveUp { why, instead } => {
                    let next = match &instead {
                        Some((name, _)) => rows.iter().find(|row| row.engine.name() == *name),
                        None => waiting.as_slice().first(),
                    };
                    let Some(next) = next else { return Err(Unanswered::refused(why)) };
                    notes.push(format!("{why}; used {} instead", next.engine.name()));
                    if let Some((_, prepared)) = instead {
                        return Ok(posed(next.engine, prepared, why, notes, takeover));
                    }
                }
            }
        }
        Err(Unanswered::refused("every engine for this question gave up"))
    }

    /// The reduction that is wanted, where a front end has one.
    pub fn reduction(&self) -> Option<Reduces> {
        self.reduction
    }

    /// Does a permutation of the labels carry the question to itself? If not, why?
    pub fn admits(
        &self,
        images: &[LabelId],
        labels: &Labels,
        control: &Control,
    ) -> Result<Result<(), String>, Stopped> {
        self.prepared.admits(images, labels, control)
    }

    /// Answers the question. Evidence from a reduced system is carried back to the system itself and replayed there.
    pub fn answer(&self, offered: &Offered<'_>, control: &Control) -> Result<Answer, Unanswered> {
        self.answer_in(offered, None, control)
    }

    /// The same, another system being searched in place of the offered one where no reduction is used: one that an
    /// engine for the question can search like any other.
    pub fn answer_in(
        &self,
        offered: &Offered<'_>,
        instead: Option<&dyn Reduction>,
        control: &Control,
    ) -> Result<Answer, Unanswered> {
        let mut notes = self.notes.clone();
        let mut answer = match (offered.reduction, self.reduction) {
            (Some(reduction), Some(Reduces::Symmetry)) => {
                self.among_orbits(offered, reduction, instead, &mut notes, control)?
            }
            (Some(reduction), Some(Reduces::PartialOrder | Reduces::Decomposition)) => {
                let answer = self.prepared.answer(&Task::of(reduction.system()), control)?;
                self.brought_back(answer, offered, reduction, control)?
            }
            (None, _) | (_, None) => self.unreduced(offered, instead, control)?,
        };
        if answer.why.is_empty() {
            answer.why = format!("{}: {}", self.engine.name(), self.why);
        }
        answer.notes.splice(0..0, notes);
        Ok(answer)
    }

    /// By symmetry, with the wanted strategy; unless the user demands it, with another one or without.
    fn among_orbits(
        &self,
        offered: &Offered<'_>,
        reduction: &dyn Reduction,
        instead: Option<&dyn Reduction>,
        notes: &mut Vec<String>,
        control: &Control,
    ) -> Result<Answer, Unanswered> {
        let with = |strategy: &'static Strategy, control: &Control| match self.engine.reduces_by_symmetry() {
            true => {
                let itself = Some(&offered.system);
                let task = Task { strategy: Some(strategy.name), itself, ..Task::of(reduction.system()) };
                self.prepared.answer(&task, control)
            }
            false => in_quotient(&*self.prepared, reduction, strategy, control),
        };
        let automatic = &STRATEGIES[0];
        let rule = reduction.price_rule().filter(|_| !offered.insisted && self.strategy == automatic);
        let mut outcome = match rule {
            None => with(self.strategy, control),
            Some(rule) => {
                let search = |part: &Control| with(self.strategy, part);
                match while_it_pays(rule, reduction.system(), self.strategy, control, search) {
                    Paid::Outcome(outcome) => *outcome,
                    Paid::GivenUp(why) => {
                        let mut answer = self.unreduced(offered, instead, control)?;
                        if answer.why.is_empty() {
                            answer.why = format!("{}: {}", self.engine.name(), self.why);
                        }
                        answer.why.push_str(&format!("; without symmetry: {why}"));
                        return Ok(answer);
                    }
                }
            }
        };
        if !offered.insisted {
            if let (Err(Unanswered::Refused(why)), false) = (&outcome, self.strategy == automatic) {
                let why = why.to_string();
                outcome = with(automatic, control);
                if let Ok(Answer { symmetry: Some(used), .. }) = &outcome {
                    notes.push(format!("{why}; used {} instead", used.strategy));
                }
            }
            if let Err(Unanswered::Refused(why)) = &outcome {
                notes.push(format!("checked without symmetry reduction: {why}"));
                return self.unreduced(offered, instead, control);
            }
        }
        // Evidence is found in the system itself, which may need more room in its rows.
        if let (Err(Unanswered::Cut { cut: Cut::Outgrown, .. }), true) = (&outcome, self.engine.reduces_by_symmetry()) {
            return self.plain(offered.system.clone(), control);
        }
        self.brought_back(outcome?, offered, reduction, control)
    }

    /// The answer of a reduction as one of the system itself, replayed there.
    fn brought_back(
        &self,
        mut answer: Answer,
        offered: &Offered<'_>,
        reduction: &dyn Reduction,
        control: &Control,
    ) -> Result<Answer, Unanswered> {
        let mut fails = false;
        for found in &mut answer.found {
            *found = match std::mem::replace(found, Found::Open) {
                Found::Holds(Some(run)) => Found::Holds(Some(reduction.run_back(run, control)?)),
                Found::Fails(evidence) => {
                    fails = true;
                    Found::Fails(reduction.back(evidence, control)?)
                }
                other @ (Found::Holds(None) | Found::Won(_) | Found::Open) => other,
            };
        }
        replay(&self.question, &answer, &*offered.system, control)?;
        answer.reductions.extend(reduction.words());
        answer.notes.extend(reduction.note(fails).map(str::to_string));
        Ok(answer)
    }

    /// Without a reduction, in the system that is offered or in the one that is searched instead.
    fn unreduced(
        &self,
        offered: &Offered<'_>,
        instead: Option<&dyn Reduction>,
        control: &Control,
    ) -> Result<Answer, Unanswered> {
        let Some(instead) = instead else { return self.plain(offered.system.clone(), control) };
        let Some(takeover) = &self.takeover else {
            let answer = self.prepared.answer(&Task::of(instead.system()), control)?;
            return self.brought_back(answer, offered, instead, control);
        };
        let (explicit, searched) = (&*self.prepared, instead.system());
        match takeover.answer(&self.question, (explicit, searched), &*offered.system, control)? {
            (answer, None) => self.brought_back(answer, offered, instead, control),
            (mut answer, Some(why)) => {
                answer.why = format!("{} instead of {}: {why}", takeover.engine.name(), self.engine.name());
                Ok(answer)
            }
        }
    }

    /// Without a reduction, with as much room in rows as it takes.
    fn plain(&self, mut system: Arc<dyn System>, control: &Control) -> Result<Answer, Unanswered> {
        loop {
            match self.answer_plain(&*system, control) {
                Err(Unanswered::Cut { cut: Cut::Outgrown, counts }) => {
                    system = system.widened().ok_or(Unanswered::Cut { cut: Cut::Outgrown, counts })?;
                }
                Ok(answer) => {
                    // Engines that give witnesses have replayed them.
                    if let Question::Reach(_) | Question::Recur(_) = self.question {
                        replay(&self.question, &answer, &*system, control)?;
                    }
                    return Ok(answer);
                }
                Err(other) => return Err(other),
            }
        }
    }

    fn answer_plain(&self, system: &dyn System, control: &Control) -> Result<Answer, Unanswered> {
        let Some(takeover) = &self.takeover else { return self.prepared.answer(&Task::of(system), control) };
        let (mut answer, why) = takeover.answer(&self.question, (&*self.prepared, system), system, control)?;
        if let Some(why) = why {
            answer.why = format!("{} instead of {}: {why}", takeover.engine.name(), self.engine.name());
        }
        Ok(answer)
    }
}

/// Why this engine was chosen, in one line.
fn reason(engine: &dyn Engine, facts: &Facts, asked: &Asked) -> String {
    let insisted = asked.algorithm.is_some_and(|algorithm| algorithm.name() == engine.name());
    if insisted { "--algorithm asks for it".to_string() } else { engine.reason(facts) }
}
