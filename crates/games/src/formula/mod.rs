//! The modal µ-calculus with data: its text, its types, and the game of a formula and a model.
