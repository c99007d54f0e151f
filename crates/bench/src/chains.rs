//! Stabiliser chains and structures of groups given by generators, beside GAP when its path is given.

use std::path::PathBuf;
use std::process::Command;

use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Point};

use crate::labelling::best_of;

/// `[PATH of gap]`: symmetric groups, wreath products, the group of the cube.
pub(crate) fn run(arguments: &[String]) {
    let peer = arguments.first().map(PathBuf::from);
    let cases: Vec<(&str, Vec<Permutation>)> = vec![
        ("S_100", symmetric(100)),
        ("S_20 wr S_20", wreath(20, 20)),
        ("cube", cube()),
        ("S_1000", symmetric(1000)),
        ("S_10000", symmetric(10_000)),
        ("S_100000", symmetric(100_000)),
    ];
    println!("{:<14} {:>8} {:>12} {:>12} {:>12}  order", "group", "degree", "chain", "structure", "gap");
    for (name, generators) in cases {
        let control = Control::unlimited();
        let (chain_time, group) =
            best_of(|| PermutationGroup::generate(0, &generators, &control).expect("nothing stops it"));
        let (structure_time, structure) = best_of(|| group.structure(&control).expect("nothing stops it"));
        let order = group.order().to_string();
        let order = if order.len() > 24 { format!("about 10^{}", order.len() - 1) } else { order };
        let theirs = match &peer {
            Some(path) if group.degree() <= 400 => gap(path, &generators),
            _ => None,
        };
        println!(
            "{name:<14} {:>8} {chain_time:>9.3} ms {structure_time:>9.3} ms {:>12}  {order}, {}",
            group.degree(),
            theirs.map_or("-".to_string(), |time| format!("{time:.3} ms")),
            structure.name(),
        );
    }
}

/// What GAP takes for the order of the group, in milliseconds.
fn gap(path: &PathBuf, generators: &[Permutation]) -> Option<f64> {
    let cycles: Vec<String> = generators.iter().map(ToString::to_string).collect();
    let program = format!(
        "g:=[{}];; t:=NanosecondsSinceEpoch();; Size(Group(g));; \
         Print(\"time \",NanosecondsSinceEpoch()-t,\" end\\n\"); QUIT;",
        cycles.join(",")
    );
    let file = std::env::temp_dir().join(format!("trefoil-bench-{}.g", std::process::id()));
    std::fs::write(&file, program).ok()?;
    let output = Command::new(path).args(["-q", "-A"]).arg(&file).output();
    let _ = std::fs::remove_file(&file);
    let output = String::from_utf8_lossy(&output.ok()?.stdout).into_owned();
    let nanoseconds: f64 = output.split("time ").nth(1)?.split(" end").next()?.parse().ok()?;
    Some(nanoseconds / 1e6)
}

fn symmetric(n: usize) -> Vec<Permutation> {
    let cycle: Vec<Point> = (0..n as Point).map(|point| (point + 1) % n as Point).collect();
    let mut swap: Vec<Point> = (0..n as Point).collect();
    swap.swap(0, n.min(2) - 1);
    [cycle, swap].into_iter().filter_map(|images| Permutation::from_images(images).ok()).collect()
}

fn wreath(size: usize, count: usize) -> Vec<Permutation> {
    let mut generators: Vec<Permutation> =
        symmetric(size).iter().map(|generator| generator.extended(size * count)).collect();
    for top in symmetric(count) {
        let images =
            (0..size * count).map(|point| top.images()[point / size] * size as Point + (point % size) as Point);
        generators.extend(Permutation::from_images(images.collect()));
    }
    generators
}

fn cube() -> Vec<Permutation> {
    let turns = [
        "(1,3,8,6)(2,5,7,4)(9,33,25,17)(10,34,26,18)(11,35,27,19)",
        "(9,11,16,14)(10,13,15,12)(1,17,41,40)(4,20,44,37)(6,22,46,35)",
        "(17,19,24,22)(18,21,23,20)(6,25,43,16)(7,28,42,13)(8,30,41,11)",
        "(25,27,32,30)(26,29,31,28)(3,38,43,19)(5,36,45,21)(8,33,48,24)",
        "(33,35,40,38)(34,37,39,36)(3,9,46,32)(2,12,47,29)(1,14,48,27)",
        "(41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40)",
    ];
    turns.iter().filter_map(|turn| Permutation::parse(turn, 48).ok()).collect()
}
