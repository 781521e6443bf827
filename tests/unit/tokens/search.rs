//! Unit tests of private items in `src/tokens/search.rs`.

use super::*;
use std::cell::RefCell;

#[test]
fn finds_the_edge_with_few_looks() {
    for budget in [0, 1, 7, 500, 99_999, 249_999, 250_000, 1_000_000] {
        let exact = usize::try_from(budget * 4).unwrap().min(1_000_000);
        for guess in [0, 1, exact / 2, exact, exact + exact / 3, 1_000_000, usize::MAX] {
            let looks = RefCell::new(Vec::new());
            let found = largest(0, 1_000_000, guess, budget, |keep| {
                looks.borrow_mut().push(keep);
                (keep as u64).div_ceil(4)
            });
            assert_eq!(found, Some(exact), "{budget} {guess}");
            assert!(looks.borrow().len() < 34, "{} looks", looks.borrow().len());
        }
    }
}

/// Counting is what costs: a good guess keeps the search from looking at everything.
#[test]
fn a_good_guess_looks_at_nothing_much_larger() {
    let looks = RefCell::new(Vec::new());
    largest(0, 1_000_000, 10_100, 2_500, |keep| {
        looks.borrow_mut().push(keep);
        (keep as u64).div_ceil(4)
    });
    assert!(looks.borrow().iter().all(|&keep| keep < 12_000), "{looks:?}");
}

#[test]
fn reports_that_nothing_fits() {
    assert_eq!(largest(1, 10, 5, 0, |keep| keep as u64), None);
    assert_eq!(largest(3, 2, 2, 9, |keep| keep as u64), None);
    assert_eq!(largest(0, 0, 0, 0, |_| 0), Some(0));
}
