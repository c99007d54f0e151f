//! Answers as the XML of JUnit, which build servers read: a suite for each script, a case for each assertion.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use trefoil_session::Verdict;
use trefoil_session::check::{AssertionReport, RunReport};

use super::{explain, results};

/// The document.
pub(crate) fn document(reports: &[RunReport]) -> String {
    let mut document = Report::new("trefoil check");
    for report in reports {
        let mut suite = TestSuite::new(report.file_name.clone());
        if !report.errors.is_empty() {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(report.errors[0].clone()).set_type("script").set_description(report.errors.join("\n"));
            let mut case = TestCase::new("the script can be read", status);
            case.set_classname(report.file_name.clone());
            suite.add_test_case(case);
        }
        suite.add_test_cases(report.results.iter().map(|answer| case(report, answer)));
        document.add_test_suite(suite);
    }
    document.to_string().unwrap_or_default()
}

fn case(report: &RunReport, answer: &AssertionReport) -> TestCase {
    let (kind, sort) = match answer.verdict {
        Verdict::Holds => (None, ""),
        Verdict::Fails => (Some(NonSuccessKind::Failure), "fails"),
        Verdict::Unknown => (Some(NonSuccessKind::Error), "unknown"),
        Verdict::Error => (Some(NonSuccessKind::Error), "error"),
    };
    let status = match kind {
        None => TestCaseStatus::success(),
        Some(kind) => {
            let mut status = TestCaseStatus::non_success(kind);
            let message = results::sentence(answer).unwrap_or_else(|| "the assertion does not hold".to_string());
            status.set_message(message).set_type(sort);
            let described = if answer.verdict == Verdict::Error {
                answer.errors.join("\n")
            } else {
                explain::explanation(answer, false)
            };
            status.set_description(described);
            status
        }
    };
    let name = format!("{} {}", answer.assertion.index, answer.assertion.assertion_string);
    let mut case = TestCase::new(name, status);
    case.set_classname(report.file_name.clone());
    let seconds = (answer.compile_seconds + answer.check_seconds).max(0.0);
    case.set_time(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    case
}

#[cfg(test)]
mod tests {
    use crate::check::samples;

    #[test]
    fn failures_errors_and_successes_are_told_apart() {
        let text = super::document(&[samples::run()]);
        assert!(text.contains("tests=\"6\" skipped=\"0\" errors=\"2\" failures=\"2\""), "{text}");
        assert!(
            text.contains("<testcase name=\"1 SPEC [T= SYSTEM\" classname=\"sample.csp\" time=\"0.250\"/>"),
            "{text}"
        );
        assert!(
            text.contains(
                "<failure message=\"after &lt;a, b&gt; the process deadlocks: it offers no event\" type=\"fails\">"
            ),
            "{text}"
        );
        assert!(text.contains("type=\"unknown\""), "{text}");
    }
}
