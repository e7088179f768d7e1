//! How much a report shows, by what its sender did.

use capsid_model::text_enum;

/// What a report rests on, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvidenceGrade {
    /// Sent by the publisher's owner.
    Own,
    /// Nothing shows that its sender had the asset.
    Unverified,
    /// Sent by a client that runs commands in an empty folder.
    Probe,
    /// Its sender fetched the asset, or took it on trial.
    Fetched,
    /// Its sender fetched it a while before, and states where and what it ran.
    Used,
    /// Its sender reproduced the problem in its own repository, and this patch removed it.
    Applied,
    /// The hub chose its sender.
    Assigned,
    /// The hub chose its sender, and the commands fail without the change.
    Reproduced,
    /// The hub's runner ran it.
    Hub,
}

text_enum!(EvidenceGrade {
    Own = "self",
    Unverified = "unverified",
    Probe = "probe",
    Fetched = "fetched",
    Used = "used",
    Applied = "applied",
    Assigned = "assigned",
    Reproduced = "reproduced",
    Hub = "hub",
});

/// What each grade weighs before the owner's own weight counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradeWeights {
    /// Everybody means well.
    Private,
    /// Nobody is known.
    Public,
}

impl GradeWeights {
    /// The weight of a grade.
    pub fn weigh(self, grade: EvidenceGrade) -> f64 {
        use EvidenceGrade as Grade;
        match (grade, self) {
            (Grade::Own | Grade::Unverified | Grade::Probe, _) => 0.0,
            (Grade::Fetched, Self::Public) => 0.0,
            (Grade::Fetched | Grade::Used, Self::Private) => 0.5,
            (Grade::Used, Self::Public) => 0.25,
            (Grade::Applied | Grade::Assigned, Self::Public) => 0.5,
            (Grade::Applied | Grade::Assigned, Self::Private) | (Grade::Reproduced, _) => 1.0,
            (Grade::Hub, _) => 3.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_weighs_more_with_less_to_show() {
        for weights in [GradeWeights::Private, GradeWeights::Public] {
            let each: Vec<f64> = EvidenceGrade::ALL.iter().map(|grade| weights.weigh(*grade)).collect();
            assert!(each.is_sorted(), "{each:?}");
        }
        assert!(
            EvidenceGrade::ALL
                .iter()
                .all(|grade| { GradeWeights::Public.weigh(*grade) <= GradeWeights::Private.weigh(*grade) })
        );
    }
}
