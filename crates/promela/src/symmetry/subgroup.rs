//! The largest group that is proved if the proof rejects a proposed symmetry.
//!
//! The graph proposes permutations that keep the text and the start-up. The proof knows a little more: the widths of
//! variables, the values that are small enough for tables, the initial values of hidden variables. If it rejects a
//! generator, others of the group may pass: conjugates, products, or an element of another coset. The permutations that
//! the proof accepts form a group, so the largest one can be searched for ([`trefoil_groups::largest_subgroup`]),
//! within a bounded effort.

use trefoil_control::{Control, Stopped};
use trefoil_groups::{Permutation, PermutationGroup, largest_subgroup};

use super::Reason;
use super::items::ItemId;
use super::proof::Proof;

/// How many elements are looked at.
const EFFORT: usize = 20_000;

/// Generators of the largest proved subgroup of the group that these generate; adds the reasons against rejected
/// generators.
pub(super) fn proved(
    proof: &Proof<'_>,
    proposed: &[Vec<ItemId>],
    reasons: &mut Vec<Reason>,
    control: &Control,
) -> Result<Vec<Vec<ItemId>>, Stopped> {
    let mut refused = Vec::new();
    for images in proposed {
        control.check()?;
        refused.extend(proof.check(images).err());
    }
    if refused.is_empty() {
        return Ok(proposed.to_vec());
    }
    let permutations: Vec<Permutation> = proposed
        .iter()
        .map(|images| Permutation::from_images(images.clone()).expect("automorphisms are permutations"))
        .collect();
    // A search that is stopped says so itself.
    let mut holds = |element: &Permutation| control.check().is_ok() && proof.check(element.images()).is_ok();
    let found = largest_subgroup(&permutations, EFFORT, control, &mut holds)?;
    let degree = proposed[0].len();
    let wanted = PermutationGroup::generate(degree, &permutations, control)?.order();
    let order = PermutationGroup::generate(degree, &found.generators, control)?.order();
    let all = if found.complete { "" } else { ", and there may be more" };
    for reason in refused {
        let text = format!("{}; {order} of {wanted} candidate permutations are symmetries{all}", reason.text);
        reasons.push(Reason { text, ..reason });
    }
    Ok(found.generators.iter().map(|generator| generator.images().to_vec()).collect())
}
