//! Owners and evidence: the level and the weight of an owner follow from what was last worked out of it, and the grade of a report
//! fits how the report came about.

use super::FsckReport;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::owners::{AssessedOwner, stored_fault};

row! {
    /// How far an owner is trusted, as it is stored.
    struct StoredOwner {
        owner: String = "o.owner",
        level: i64 = "o.level",
        weight: f64 = "o.weight",
        settled: i64 = "o.settled",
        agreed: i64 = "o.agreed",
        conditions: String = "o.conditions",
        is_account: bool = "CASE WHEN u.user_id IS NULL THEN 0 ELSE 1 END",
        is_appointed: bool = "CASE WHEN u.appointed_at IS NULL THEN 0 ELSE 1 END",
    }
}

/// Checks the levels of owners. They are worked out once a day, so only what was stored then is looked at.
pub fn check_levels(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let policy = tx.trust().owners;
    let stored = select!(
        StoredOwner,
        "FROM owners o LEFT JOIN users u ON 'user:' || u.user_id = o.owner ORDER BY o.owner"
    );
    tx.query_each(stored, params![], |stored: StoredOwner| {
        if !stored.is_account {
            report.lost("owner_unknown", stored.owner, "There is no such account.");
            return Ok(());
        }
        let fault = match serde_json::from_str(&stored.conditions) {
            Ok(conditions) => {
                let assessed = AssessedOwner {
                    level: stored.level,
                    weight: stored.weight,
                    settled: stored.settled,
                    agreed: stored.agreed,
                    is_appointed: stored.is_appointed,
                    conditions,
                };
                stored_fault(&assessed, &policy)
            }
            Err(_) => Some("The conditions of its level cannot be read.".to_owned()),
        };
        if let Some(problem) = fault {
            report.owner_differs("level_wrong", &stored.owner, problem);
        }
        Ok(())
    })
}

/// Checks the grades of reports. A report of the publisher's owner weighs nothing, only the runner's weighs more than 1, and whom
/// the hub did not ask has no grade of those whom it did.
pub fn check_grades(tx: &mut dyn Tx, report: &mut FsckReport) -> Result<()> {
    let odd = "SELECT report_id, label, grade, weight FROM reports
         WHERE label NOT IN ('self', 'assigned', 'unsolicited', 'hub')
            OR grade NOT IN ('self', 'unverified', 'probe', 'fetched', 'used', 'applied', 'assigned', 'reproduced', 'hub')
            OR (label = 'self' AND (grade <> 'self' OR weight <> 0)) OR (label <> 'self' AND grade = 'self')
            OR (label = 'hub' AND grade <> 'hub') OR (label <> 'hub' AND grade = 'hub')
            OR (label <> 'assigned' AND grade IN ('assigned', 'reproduced'))
            OR (label = 'assigned' AND grade NOT IN ('assigned', 'reproduced', 'unverified'))
            OR NOT (weight >= 0 AND weight <= CASE WHEN label = 'hub' THEN 3 ELSE 1 END)
         ORDER BY seq";
    tx.query_each(odd, params![], |(id, label, grade, weight): (String, String, String, f64)| {
        let problem =
            format!("A report that is `{label}` cannot have the grade `{grade}` and weigh {weight}.");
        report.lost("grade_wrong", id, problem);
        Ok(())
    })?;
    let replaced = "SELECT node_id, grade FROM settled_reports
         WHERE grade NOT IN ('self', 'unverified', 'probe', 'fetched', 'used', 'applied', 'assigned', 'reproduced', 'hub')
         ORDER BY node_id";
    tx.query_each(replaced, params![], |(node_id, grade): (String, String)| {
        report.lost(
            "grade_wrong",
            node_id,
            format!("A settled report has the grade `{grade}`, which is none."),
        );
        Ok(())
    })
}
