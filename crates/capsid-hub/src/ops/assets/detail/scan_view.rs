//! The scan of an asset as responses show it.

use capsid_model::time::Time;
use capsid_store::assets::scans::ScanRow;
use serde::Serialize;
use utoipa::ToSchema;

/// By which rules the texts of an asset were scanned, when, and what followed.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Scan)]
pub struct ScanView {
    version: i64,
    at: String,
    /// clean, warn or quarantine.
    verdict: String,
}

impl From<ScanRow> for ScanView {
    fn from(row: ScanRow) -> Self {
        Self { version: row.version, at: Time(row.at).iso(), verdict: row.verdict }
    }
}
