//! The name of a bundle, which follows from what it holds.

use capsid_model::hash::sha256_hex;

/// The text that a publisher signs and a bundle is named by: both ids, sorted and joined by `|`.
pub fn signed_text(gene: &str, capsule: &str) -> String {
    let (first, second) = if gene <= capsule { (gene, capsule) } else { (capsule, gene) };
    format!("{first}|{second}")
}

/// The id of the bundle of a gene and a capsule, the same in whatever order they are given.
pub fn bundle_id(gene: &str, capsule: &str) -> String {
    let digest = sha256_hex(signed_text(gene, capsule).as_bytes());
    format!("bundle_{}", digest.get(..16).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENE: &str = "sha256:1c378f08f5cf0f2ad82f3f8a695aec9610137b5708dbff31d38fe2fe29176919";
    const CAPSULE: &str = "sha256:1690a03cb76c0d24e1a77647d8e98f619bd2af6ff92a3d3f8286c55307395e3d";

    #[test]
    fn the_order_of_the_ids_does_not_matter() {
        assert_eq!(signed_text(GENE, CAPSULE), format!("{CAPSULE}|{GENE}"));
        assert_eq!(bundle_id(GENE, CAPSULE), bundle_id(CAPSULE, GENE));
        let digest = sha256_hex(format!("{CAPSULE}|{GENE}").as_bytes());
        assert_eq!(bundle_id(GENE, CAPSULE), format!("bundle_{}", &digest[..16]));
    }

    #[test]
    fn another_capsule_makes_another_bundle() {
        assert_ne!(bundle_id(GENE, CAPSULE), bundle_id(GENE, GENE));
    }
}
