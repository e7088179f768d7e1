//! Signatures, one by one or many at once.
//!
//! Strict verification refuses points of small order, points with more than one encoding, and scalars above
//! the group's order. Many at once are checked by one equation over a random combination, which is about three times
//! as fast; whatever could make the two disagree is sent to strict verification instead, with one exception. The
//! equation may take a signature whose point carries a component of small order, which strict verification always
//! refuses. Only the holder of the private key can make such a signature, so it forges nothing; but a signer could
//! make a record that one mode takes and the other refuses. When the equation does not hold, every signature of
//! the batch is verified strictly, so a batch never refuses what strict verification takes.

use crate::hash::unhex;
use crate::public_key::PublicKey;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};

/// A signature to check: over which text, and with which key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignatureClaim<'a> {
    pub hash: &'a str,
    pub signature: Signature,
    pub key: PublicKey,
}

/// Reads a signature's text.
pub(crate) fn read(text: &str) -> Option<Signature> {
    unhex::<64>(text).map(|bytes| Signature::from_bytes(&bytes))
}

impl SignatureClaim<'_> {
    /// Whether it holds, strictly.
    ///
    /// The library's strict verification decodes the point to see that it is not of small order. To look at its bytes
    /// comes to the same: the point that the equation gives is compared by its one encoding. A [`PublicKey`] never is
    /// of small order.
    pub(crate) fn holds(&self) -> bool {
        is_plain_point(self) && self.key.verifying_key().verify(self.hash.as_bytes(), &self.signature).is_ok()
    }
}

/// Whether each claim holds, checked together as far as the verdicts are the same.
pub(crate) fn verify_batch(claims: &[SignatureClaim<'_>]) -> Vec<bool> {
    let fits: Vec<bool> = claims.iter().map(is_plain_point).collect();
    let together: Vec<&SignatureClaim<'_>> =
        claims.iter().zip(&fits).filter(|(_, fits)| **fits).map(|(c, _)| c).collect();
    let all_hold = equation_holds(&together);
    claims.iter().zip(fits).map(|(claim, fits)| (fits && all_hold) || claim.holds()).collect()
}

fn equation_holds(claims: &[&SignatureClaim<'_>]) -> bool {
    let texts: Vec<&[u8]> = claims.iter().map(|claim| claim.hash.as_bytes()).collect();
    let signatures: Vec<Signature> = claims.iter().map(|claim| claim.signature).collect();
    let keys: Vec<VerifyingKey> = claims.iter().map(|claim| *claim.key.verifying_key()).collect();
    ed25519_dalek::verify_batch(&texts, &signatures, &keys).is_ok()
}

/// Whether the signature's point has one encoding and is not of small order.
fn is_plain_point(claim: &SignatureClaim<'_>) -> bool {
    let mut y = *claim.signature.r_bytes();
    y[31] &= 0x7f;
    // The field's order is 2^255 - 19; its digits are ed ff .. ff 7f.
    let below_order = y[31] != 0x7f || y[1..31].iter().any(|byte| *byte != 0xff) || y[0] < 0xed;
    below_order && !SMALL_ORDER.contains(&y)
}

/// The y coordinates of the eight points of small order, two of which have one each and six share three.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
    ],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

#[cfg(test)]
mod tests;
