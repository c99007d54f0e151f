//! Times a stabiliser chain and the structure of a group: `measure chain symmetric 100`, `measure chain wreath 20 20`,
//! `measure chain copies 5 50`, `measure chain cube`, `measure chain '(1,2,3)' '(1,2)'`.

use std::time::Instant;

use trefoil_control::Control;
use trefoil_groups::{Permutation, PermutationGroup, Point};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<usize>().ok()).unwrap_or(10);
    match words.as_slice() {
        ["chain", "symmetric", ..] => chain(&symmetric(number(2))),
        ["chain", "wreath", ..] => chain(&wreath(number(2), number(3))),
        ["chain", "copies", ..] => chain(&copies(number(2), number(3))),
        ["chain", "cube"] => chain(&cube()),
        ["chain", cycles @ ..] if !cycles.is_empty() => {
            let read = |text: &&str| Permutation::parse(text, 0);
            match cycles.iter().map(read).collect::<Result<Vec<_>, _>>() {
                Ok(generators) => chain(&generators),
                Err(error) => eprintln!("{error}"),
            }
        }
        _ => eprintln!("usage: measure chain (symmetric N | wreath N K | copies N K | cube | CYCLES...)"),
    }
}

fn chain(generators: &[Permutation]) {
    let started = Instant::now();
    match PermutationGroup::generate(0, generators, &Control::unlimited()) {
        Ok(group) => {
            let order = group.order().to_string();
            let chain_time = started.elapsed().as_secs_f64() * 1e3;
            let base = group.chain().base().len();
            println!("chain {chain_time:.1} ms, base of {base}, order {order}");
            let started = Instant::now();
            if let Ok(structure) = group.structure(&Control::unlimited()) {
                println!("structure {:.1} ms: {structure}", started.elapsed().as_secs_f64() * 1e3);
            }
        }
        Err(stopped) => eprintln!("{stopped}"),
    }
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

/// Symmetric groups side by side.
fn copies(size: usize, count: usize) -> Vec<Permutation> {
    let mut generators = Vec::new();
    for copy in 0..count {
        for generator in symmetric(size) {
            let mut images: Vec<Point> = (0..(size * count) as Point).collect();
            for (point, &image) in generator.images().iter().enumerate() {
                images[copy * size + point] = (copy * size) as Point + image;
            }
            generators.extend(Permutation::from_images(images));
        }
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
