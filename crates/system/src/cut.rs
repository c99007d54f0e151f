//! Why a walk ended early.

use std::fmt;

use trefoil_control::{Control, Stopped};

/// Why a walk over the steps of a state ended early. It takes two words, because it is returned through every layer for
/// every step; the control knows why it stopped, and the error of a model is boxed.
///
/// The cut that a sink returns passes unchanged through every wrapper. `Ok` means that every step was delivered, and
/// only then may results of a walk be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The sink has what it wanted.
    Enough,
    /// A budget ran out or the user interrupted; [`Control::why`] has the reason.
    Stopped,
    /// A step has no room in a row; [`crate::System::widened`] gives the system with more room.
    Outgrown,
    /// The model itself is at fault.
    Wrong(Box<Wrong>),
    /// The model needs more than its system allows for one step, which it names; nothing is known to be wrong with it.
    Beyond(Box<Wrong>),
}

/// What is wrong with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The message.
    pub message: String,
    /// Where, as a range of bytes in one of the front end's files.
    pub place: Option<WrongPlace>,
    /// How the user may correct it.
    pub hint: Option<String>,
}

/// A range of bytes in a file of the front end that made a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongPlace {
    /// The front end's number of the file.
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

/// How a walk ended.
pub type Walk = Result<(), Cut>;

impl Cut {
    /// Whether the sink had enough; every other reason to end early stays an error.
    ///
    /// For a caller whose own sink returns [`Cut::Enough`].
    #[inline]
    pub fn had_enough(walk: Walk) -> Result<bool, Cut> {
        match walk {
            Ok(()) => Ok(false),
            Err(Cut::Enough) => Ok(true),
            Err(cut) => Err(cut),
        }
    }

    /// The reason as text, as the control of the walk knows it.
    pub fn explain(&self, control: &Control) -> String {
        match self {
            Cut::Enough => "the search has what it wanted".into(),
            Cut::Stopped => control.why().to_string(),
            Cut::Outgrown => "a state has no room for another process".into(),
            Cut::Wrong(wrong) | Cut::Beyond(wrong) => wrong.to_string(),
        }
    }
}

impl From<Stopped> for Cut {
    fn from(_: Stopped) -> Cut {
        Cut::Stopped
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_two_words() {
        assert!(size_of::<Cut>() <= 2 * size_of::<usize>());
        assert_eq!(size_of::<Walk>(), size_of::<Cut>());
    }
}
