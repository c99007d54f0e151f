//! Unsaved texts over files, in every language and in included files.

use std::path::PathBuf;

use trefoil_control::Control;
use trefoil_session::check::{AnyScript, Asked};
use trefoil_session::{Job, Verdict, cspm, mcrl2};

/// A folder of its own for a test, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("trefoil-unsaved-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job() -> Job {
    Job::new(Control::unlimited(), 1)
}

/// The verdict on the first property or assertion.
fn verdict(file: &std::path::Path, job: &Job) -> Verdict {
    let mut script = AnyScript::open(file, None, job).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
    script.run(1, &Asked::default(), job).verdict
}

#[test]
fn an_included_file_of_a_script() {
    let folder = Folder::new("cspm");
    let main = folder.file("main.csp", "include \"events.csp\"\nP = a -> P\nassert P :[deadlock free]\n");
    let events = folder.file("events.csp", "channel b\n");
    let mut job = job();
    assert!(cspm::typecheck(&main, &job).is_err());
    job.texts.put(&events, "channel a, b\n");
    assert!(cspm::typecheck(&main, &job).is_ok());
    assert_eq!(verdict(&main, &job), Verdict::Holds);
    // The script itself, and a file that is nowhere else.
    job.texts.put(&main, "include \"sub/../new.csp\"\nassert STOP |~| a -> STOP :[deadlock free]\n");
    job.texts.put(folder.0.join("new.csp"), "channel a\n");
    assert_eq!(verdict(&main, &job), Verdict::Fails);
    job.texts.remove(&main);
    assert_eq!(verdict(&main, &job), Verdict::Holds);
}

#[test]
fn an_included_file_of_a_model() {
    let folder = Folder::new("promela");
    let main = folder.file("main.pml", "#include \"size.h\"\nactive proctype P() { assert(SIZE == 2) }\n");
    let size = folder.file("size.h", "#define SIZE 1\n");
    let mut job = job();
    assert_eq!(verdict(&main, &job), Verdict::Fails);
    job.texts.put(&size, "#define SIZE 2\n");
    assert_eq!(verdict(&main, &job), Verdict::Holds);
    job.texts.put(&main, "active proctype P() { assert(false) }\n");
    assert_eq!(verdict(&main, &job), Verdict::Fails);
}

#[test]
fn a_specification() {
    let folder = Folder::new("mcrl2");
    let main = folder.file("main.mcrl2", "map f: Nat;\neqn f = true;\n");
    let mut job = job();
    assert!(mcrl2::typecheck(&main, &job).is_err());
    job.texts.put(&main, "map f: Bool;\neqn f = true;\n");
    assert!(mcrl2::typecheck(&main, &job).is_ok());
}
