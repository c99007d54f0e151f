//! mCRL2, the language of processes over data.

pub mod syntax;
