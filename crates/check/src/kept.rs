//! Kept answers, by question and options; an answer of a search that was cut is never kept.

use trefoil_questions::{Answer, Asked, Goal, Question, Setting, Unanswered};

/// The answers that were given to questions about what one system can reach.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    answers: Vec<(Key, Answer)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    goals: Vec<Goal>,
    /// The goal that the search was made for; nothing when it was complete and answers all of them.
    goal: Option<usize>,
    /// Whether the search goes on does not change what a complete one finds.
    asked: Asked,
}

impl Kept {
    /// The answer that is kept, or a new one. Questions of other kinds are always answered anew.
    pub fn answer(
        &mut self,
        question: &Question<'_>,
        asked: &Asked,
        answer: impl FnOnce() -> Result<Answer, Unanswered>,
    ) -> Result<Answer, Unanswered> {
        let Question::Reach(reach) = question else { return answer() };
        let of = |goal, asked: &Asked| Key { goals: reach.goals.to_vec(), goal, asked: asked.clone() };
        let complete = of(None, &asked.without(Setting::KeepGoing));
        let own = of(Some(reach.asked), asked);
        if let Some((_, known)) = self.answers.iter().find(|(key, _)| *key == complete || *key == own) {
            return Ok(known.clone());
        }
        let answer = answer()?;
        let key = if answer.complete { complete } else { own };
        self.answers.push((key, answer.clone()));
        Ok(answer)
    }
}
