//! The codes of the diagnostics about symmetry.

crate::code_table::code_table! { pub(super)
    NOT_A_DATATYPE = "C080", "an item of a list of symmetric types is not a datatype",
        "datatype T = A | B\nX = {A}\nassert STOP :[symmetric]: X";
    NOT_A_CONSTANT = "C081", "a set removed from a datatype holds something other than its constants",
        "datatype T = A | B.Bool\nassert STOP :[symmetric]: diff(T, {| B |})";
    LISTED_TWICE = "C082", "a datatype is listed twice", "datatype T = A | B\nassert STOP :[symmetric]: T, diff(T, {| A |})";
    NOT_SYMMETRIC = "C083", "an assertion asks for a symmetry that the script does not have",
        "datatype T = A | B\nchannel c : T\nassert c.A -> STOP :[deadlock free] :[symmetry reduce]: T";
}
