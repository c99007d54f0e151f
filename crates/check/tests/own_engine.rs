//! An engine is one type and one row of the table.

use std::sync::{Arc, LazyLock};

use trefoil_check::{Offered, Posed, Row, Table};
use trefoil_control::{Control, Stopped};
use trefoil_lts::LtsBuilder;
use trefoil_questions::{
    Algorithm, Answer, Asked, Engine, Evidence, Facts, Found, Kind, Prepared, Question, Ready, Refusal, Setting, Task,
    Terms, Unanswered,
};
use trefoil_system::{Failure, Label, LabelId, Labels, Model, Path, StateId, System, TakenStep, Witness};

/// Walks on until nothing can be done any more, for systems in which every walk ends: it takes the last step of each
/// state.
struct LastStep;

impl Engine for LastStep {
    fn name(&self) -> &'static str {
        "last-step"
    }
    fn about(&self) -> &'static str {
        "one walk"
    }
    fn takes(&self, kind: Kind, facts: &Facts) -> Result<(), Refusal> {
        if kind == Kind::Deadlock && facts.explicit { Ok(()) } else { Err(Refusal::new("it looks for a deadlock")) }
    }
    fn honours(&self, _: Kind, _: &Facts, asked: &mut Asked) {
        asked.take(Setting::KeepGoing);
    }
    fn reason(&self, _: &Facts) -> String {
        "walking is cheap".to_string()
    }
    fn prepare<'q>(&self, _: Question<'q>, _: &Terms<'_>, _: &Control) -> Result<Ready<'q>, Unanswered> {
        Ok(Ready::Ready(Box::new(LastStep)))
    }
}

impl Prepared for LastStep {
    fn admits(&self, _: &[LabelId], _: &Labels, _: &Control) -> Result<Result<(), String>, Stopped> {
        Ok(Ok(()))
    }
    fn answer(&self, task: &Task<'_>, control: &Control) -> Result<Answer, Unanswered> {
        let mut path = Path { start: task.system.initial(control)?, steps: Vec::new() };
        let mut explorer = task.system.explorer(control);
        loop {
            let mut last = None;
            explorer.successors(path.last(), &mut |step| {
                last = Some(TakenStep { label: step.label, row: step.row.to_vec() });
                Ok(())
            })?;
            match last {
                Some(step) => path.steps.push(step),
                None => break,
            }
        }
        let mut answer = Answer::new("last-step", 1);
        answer.found[0] = Found::Fails(Evidence::Witness(Witness::Path { path, failure: Failure::Deadlock }));
        Ok(answer)
    }
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::standard().clone().with(Row { engine: &LastStep, reductions: &[] }));

#[test]
fn an_engine_is_one_type_and_one_row() {
    let labels = Arc::new(Labels::new());
    let a = labels.intern(Label::plain("a"));
    let mut builder = LtsBuilder::new(labels);
    builder.add(StateId(0), a, StateId(3));
    builder.add(StateId(0), a, StateId(1));
    builder.add(StateId(1), a, StateId(2));
    let system: Arc<dyn System> = Arc::new(builder.build(StateId(0)));
    let (facts, control) = (Facts::of(&*system), Control::unlimited());
    let question = Question::Deadlock { model: Model::Failures };
    let answer = |table: &Table, asked: &Asked| {
        let posed = Posed::new(table, question, &facts, asked, 1, &control).expect("it is taken");
        let offered = Offered { system: system.clone(), reduction: None, insisted: false };
        let answer = posed.answer(&offered, &control).expect("there is no budget");
        let Found::Fails(evidence) = &answer.found[0] else { panic!("{answer:?}") };
        (answer.engine, evidence.path().steps.len(), answer.why)
    };
    // It is preferred, and does not promise a shortest run.
    let own = ("last-step", 2, "last-step: walking is cheap".to_string());
    assert_eq!(answer(&TABLE, &Asked::default()), own);
    assert_eq!(answer(Table::standard(), &Asked::default()).1, 1);
    // An option that it honours is accepted where the engine is in the table, and nowhere else.
    let asked = Asked { keep_going: true, ..Asked::default() };
    assert_eq!(answer(&TABLE, &asked), own);
    assert!(TABLE.unusable(Kind::Deadlock, &facts, &asked).is_empty());
    let left = Table::standard().unusable(Kind::Deadlock, &facts, &asked);
    assert_eq!(left.iter().map(|left| left.text.as_str()).collect::<Vec<_>>(), ["--keep-going"]);
    // What nothing takes is named, and so is what does not go together.
    let asked = Asked { algorithm: Some(Algorithm::Antichain), ..Asked::default() };
    assert_eq!(TABLE.unusable(Kind::Deadlock, &facts, &asked)[0].setting, Setting::Algorithm);
    assert!(Table::standard().unusable(Kind::Refine, &facts, &asked).is_empty());
    // Facts decide as well: it does not take systems that are not in memory.
    let elsewhere = Facts { explicit: false, ..facts };
    assert_eq!(TABLE.choose(Kind::Deadlock, &elsewhere, &Asked::default()).unwrap().rows[0].engine.name(), "deadlock");
}
