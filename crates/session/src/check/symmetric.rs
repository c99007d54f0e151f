//! What assertions say about symmetry, and what the text of the script says about it.

use trefoil_cspm::symmetry::{Analysis, Claim, TypeSymmetry, claims, roots};
use trefoil_cspm::syntax::{Check, CheckOption, ExpressionId, List};
use trefoil_source::{Diagnostic, Place, Report};

use super::assertions::Listed;
use super::report::{AssertionReport, Evidence, Finding};
use super::run::Trouble;
use super::{CheckOptions, Script};
use crate::symmetry::{AssertionSymmetry, BrokenSymmetry, DatatypeSymmetry, reasons};
use crate::{Job, Verdict};

impl Script {
    /// What the text shows about the symmetries of the assertion with this number.
    pub fn symmetry(&mut self, index: usize, job: &Job) -> AssertionSymmetry {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at)).cloned();
        let listed = listed.expect("assertions have the numbers that the script gives them");
        let diagnostics = match self.claimed(&listed) {
            Ok(_) => Vec::new(),
            Err(wrong) => wrong.iter().map(|diagnostic| Report::new(diagnostic, &self.sources)).collect(),
        };
        let types = self.symmetric_types(&listed, job);
        AssertionSymmetry { assertion: listed.shown, types, diagnostics }
    }

    /// The datatypes with constants that an assertion reaches; one of a module with parameters once for each instance.
    pub(super) fn symmetric_types(&mut self, listed: &Listed, job: &Job) -> Vec<DatatypeSymmetry> {
        let found = self.shown_by_text(listed);
        let datatypes = self.prepare_compiler(&CheckOptions::default(), job).evaluator().datatypes();
        let mut types = Vec::new();
        for of in found.iter().filter(|of| !of.constants.is_empty()) {
            for copy in datatypes.iter().filter(|copy| copy.definition == of.datatype) {
                let constants = copy.constants.iter().map(|(name, _)| name.clone()).collect();
                types.push(DatatypeSymmetry::new(of, (copy.name.clone(), constants), &self.sources));
            }
        }
        types
    }

    fn shown_by_text(&self, listed: &Listed) -> Vec<TypeSymmetry> {
        let roots = roots(self.typed.renamed().tree(), listed.check, listed.options);
        Analysis::new(&self.typed).of(&roots)
    }

    /// The types that an assertion names after `symmetric` or `symmetry reduce`; none when it names no types.
    pub(super) fn claimed(&self, listed: &Listed) -> Result<Option<Vec<Claim>>, Vec<Diagnostic>> {
        let renamed = self.typed.renamed();
        let named = match listed.check {
            Check::Symmetric { types, .. } => Some(types),
            _ => renamed.tree().list(listed.options).iter().find_map(|option| match *option {
                CheckOption::SymmetryReduce(types) if !types.is_empty() => Some(types),
                _ => None,
            }),
        };
        named.map(|types| claims(renamed, types)).transpose()
    }

    /// Answers `E :[symmetric]: T, …`.
    pub(super) fn answer_symmetric(
        &self,
        listed: &Listed,
        (expression, types): (ExpressionId, List<ExpressionId>),
        report: &mut AssertionReport,
    ) -> Result<(), Trouble> {
        let claims = claims(self.typed.renamed(), types).map_err(|wrong| {
            let first = wrong.into_iter().next().expect("something is wrong");
            Trouble::Wrong(Box::new(first.also(Place::Span(listed.span), "in this assertion")))
        })?;
        let analysis = Analysis::new(&self.typed);
        let mut broken = Vec::new();
        for claim in &claims {
            let of = analysis.of_datatype(&[expression], claim.datatype);
            let against = claim.refuted(&of);
            if !against.is_empty() {
                let constants = claim.constants(&of).into_iter().map(|at| of.constants[at].name.clone()).collect();
                let reasons = reasons(against, &of, &self.sources);
                broken.push(BrokenSymmetry { type_name: claim.name.clone(), constants, reasons });
            }
        }
        let holds = broken.is_empty() != listed.shown.is_negated;
        report.result = Some(u8::from(holds));
        report.verdict = if holds { Verdict::Holds } else { Verdict::Fails };
        report.algorithm = Some("static".to_string());
        report.witness = (!broken.is_empty()).then(|| Evidence {
            finding: Finding::NotSymmetric { types: broken },
            length: 0,
            trace: Vec::new(),
            process: listed.process.clone(),
            components: Vec::new(),
            runs: Vec::new(),
            story: None,
        });
        Ok(())
    }
}
