//! What assertions say about symmetry, what the text of the script says about it, and what is proved.

use trefoil_check::{Posed, Table, group};
use trefoil_control::counted;
use trefoil_cspm::symmetry::{Analysis, Claim, TypeSymmetry, claims, roots};
use trefoil_cspm::syntax::{Check, CheckOption, ExpressionId, List};
use trefoil_source::{Diagnostic, Place, Report};
use trefoil_system::{Action, Cut};

use super::assertions::Listed;
use super::compiled::Trouble;
use super::reduction::Looked;
use super::report::{AssertionReport, Evidence, Finding};
use super::{Asked, Script};
use crate::problem::cut_short;
use crate::symmetry::{AssertionSymmetry, BrokenSymmetry, DatatypeSymmetry, ProvedGroup, SymmetryOptions, reasons};
use crate::{Job, Unfinished, Verdict};

impl Script {
    /// The symmetries of the assertion with this number: what the text shows and, unless only that is wanted, which
    /// group is proved on the compiled network.
    pub fn symmetry(&mut self, index: usize, options: &SymmetryOptions, job: &Job) -> AssertionSymmetry {
        let listed = index.checked_sub(1).and_then(|at| self.assertions.get(at)).cloned();
        let listed = listed.expect("assertions have the numbers that the script gives them");
        let mut told = AssertionSymmetry {
            types: self.symmetric_types(&listed, job),
            diagnostics: Vec::new(),
            group: None,
            reasons: Vec::new(),
            unfinished: None,
            assertion: listed.shown.clone(),
        };
        if let Err(wrong) = self.claimed(&listed) {
            told.diagnostics = wrong.iter().map(|diagnostic| Report::new(diagnostic, &self.sources)).collect();
            return told;
        }
        if options.text_only || matches!(listed.check, Check::Symmetric { .. }) {
            return told;
        }
        match self.proved(&listed, options, job) {
            Ok((group, reasons)) => (told.group, told.reasons) = (group, reasons),
            Err(Trouble::Cut(Cut::Stopped)) => {
                told.unfinished = Some(Unfinished::new(job.control.why(), &job.control));
            }
            Err(Trouble::Cut(cut)) => {
                let diagnostic = cut_short(&cut, &job.control, Place::Span(listed.span));
                told.diagnostics.push(Report::new(&diagnostic, &self.sources));
            }
            Err(Trouble::Wrong(diagnostic)) => told.diagnostics.push(Report::new(&diagnostic, &self.sources)),
        }
        told
    }

    /// The group that a check of an assertion would use, and why it is not larger.
    fn proved(
        &mut self,
        listed: &Listed,
        options: &SymmetryOptions,
        job: &Job,
    ) -> Result<(Option<ProvedGroup>, Vec<String>), Trouble> {
        let control = &job.control;
        let options = Asked { no_leaf_compression: !options.compress_leaves, ..Asked::default() };
        let compiled = self.compiled(listed, &options, job)?;
        let specification = compiled.specification(job)?;
        let question = self.question(listed, &compiled, specification.as_ref())?;
        let facts = listed.shown.kind.posing().facts;
        let posed = Posed::new(Table::standard(), question, &facts, &options, job.threads, control);
        let posed = posed.map_err(|why| self.unanswered(why, listed, &mut Default::default()))?;
        let looked = self.symmetries(listed, &options, &compiled, &posed, specification.as_ref(), control)?;
        let Some(looked) = looked else { return Ok((None, Vec::new())) };
        let Looked { reduced, reasons } = looked;
        let mut words: Vec<String> = reasons.unexpected.into_iter().chain(reasons.others).collect();
        let Some(reduced) = reduced else { return Ok((None, words)) };
        let action = reduced.system.network_action();
        control.progress().begin("recognising the group", 0);
        let group = match group(action, control)? {
            Ok(group) => group,
            Err(why) => {
                words.push(why);
                return Ok((None, words));
            }
        };
        let points: Vec<String> = (0..action.points() as u32).map(|point| action.describe_point(point)).collect();
        let quoted: Vec<String> = points.iter().map(|name| crate::groups::quoted(name)).collect();
        let cycles = |images: &Vec<u32>| crate::groups::cycles_of(images, &quoted);
        let group = ProvedGroup {
            order: group.order,
            structure: group.structure,
            generators: action.generators().iter().map(cycles).collect(),
            images: action.generators().to_vec(),
            points,
            strategy: group.strategy,
            strategy_reason: group.reason,
            permuted: reduced.permuted,
        };
        Ok((Some(group), words))
    }

    /// What in the text speaks against symmetries of an assertion, a line for each datatype.
    pub(super) fn against_by_text(&self, listed: &Listed) -> Vec<String> {
        let mut lines = Vec::new();
        for of in self.shown_by_text(listed).iter().filter(|of| of.constants.len() > 1) {
            let reasons = reasons(&of.breaks, of, &self.sources);
            let Some(first) = reasons.first() else { continue };
            let place = match (first.place.line, first.place.column) {
                (Some(line), Some(column)) => format!(" ({}:{line}:{column})", first.place.file),
                _ => String::new(),
            };
            let more = if reasons.len() > 1 {
                format!(", and {}", counted(reasons.len() as u64 - 1, "more reason"))
            } else {
                String::new()
            };
            lines.push(format!("`{}`: {}{place}{more}", of.name, first.reason));
        }
        lines
    }

    /// The datatypes with constants that an assertion reaches; one of a module with parameters once for each instance.
    pub(super) fn symmetric_types(&mut self, listed: &Listed, job: &Job) -> Vec<DatatypeSymmetry> {
        let found = self.shown_by_text(listed);
        let datatypes = self.prepare_compiler(&Asked::default(), None, job).evaluator().datatypes();
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
        report.why = Some("static: the text of the script decides it; nothing is compiled or searched".to_string());
        report.witness = (!broken.is_empty()).then(|| Evidence {
            observed: Vec::new(),
            finding: Finding::NotSymmetric { types: broken },
            length: 0,
            trace: Vec::new(),
            process: listed.process.clone(),
            components: Vec::new(),
            operators: Vec::new(),
            runs: Vec::new(),
            story: None,
            system: None,
        });
        Ok(())
    }
}
