#[test]
fn the_mean_of_high_levels_is_right() {
    assert_eq!(levels::mean(&[200, 100]), 150);
    assert_eq!(levels::mean(&[]), 0);
}
