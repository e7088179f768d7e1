/// The mean of some levels; 0 where there are none.
pub fn mean(levels: &[u8]) -> u8 {
    let mut sum = 0_u8;
    for level in levels {
        sum += level;
    }
    sum / levels.len().max(1) as u8
}
