//! Lists of assets: filtered, in an order without ties, page by page.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::{Dialect, Param, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use std::collections::HashMap;

/// A list says exactly how long it is up to here.
pub const COUNTED: i64 = 10_000;

row! {
    /// An asset with what a listing tells of its publisher.
    #[derive(Debug, Clone)]
    pub struct ListedAsset {
        pub asset: AssetRow = AssetRow::COLUMNS,
        /// Its publisher's reputation, 0 to 100.
        pub reputation: f64 = "COALESCE(n.reputation_override, n.reputation)",
        /// How many reports that count say that it works.
        pub passes: i64 = "(SELECT COUNT(*) FROM reports r WHERE r.asset_id = a.asset_id AND r.weight > 0
            AND r.overall_ok = 1)",
        /// How many say that it does not.
        pub fails: i64 = "(SELECT COUNT(*) FROM reports r WHERE r.asset_id = a.asset_id AND r.weight > 0
            AND r.overall_ok = 0)",
        /// The place of the best grade among those that say it works.
        best_grade: Option<i64> = BEST_GRADE,
        /// The level of the account that owns its publisher, as it was last assessed.
        pub owner_level: Option<i64> = "(SELECT o.level FROM owners o WHERE o.owner = 'user:' || n.owner)",
    }
}

/// The grades are numbered as [`EvidenceGrade`] orders them.
const BEST_GRADE: &str = "(SELECT CAST(MAX(CASE r.grade WHEN 'self' THEN 0 WHEN 'unverified' THEN 1
    WHEN 'probe' THEN 2 WHEN 'fetched' THEN 3 WHEN 'used' THEN 4 WHEN 'applied' THEN 5 WHEN 'assigned' THEN 6
    WHEN 'reproduced' THEN 7 WHEN 'hub' THEN 8 END) AS BIGINT) FROM reports r
    WHERE r.asset_id = a.asset_id AND r.weight > 0 AND r.overall_ok = 1)";

impl ListedAsset {
    /// The best grade among the reports that count and say that it works.
    pub fn grade(&self) -> Option<EvidenceGrade> {
        EvidenceGrade::ALL.get(usize::try_from(self.best_grade?).ok()?).copied()
    }
}

impl ListedAsset {
    /// The same capsule as a candidate with another id and card that nobody has had or judged yet.
    pub(crate) fn into_new_candidate(
        mut self,
        id: AssetId,
        bundle_id: String,
        card: String,
        at: i64,
    ) -> Self {
        let asset = &mut self.asset;
        // It has no place in the order of publication, and no body there.
        asset.seq = -1;
        (asset.asset_id, asset.bundle_id, asset.card) = (id, bundle_id, card);
        (asset.status, asset.trust_tier) = (AssetStatus::Candidate, "normal".to_owned());
        (asset.created_at, asset.last_activity_at, asset.scored_at, asset.promoted_at) = (at, at, at, None);
        (asset.traits.has_event, asset.similar_to, asset.trust, asset.belief) = (false, None, None, None);
        (asset.call_count, asset.reuse_count, asset.view_count) = (0, 0, 0);
        (asset.upvotes, asset.downvotes, asset.successes, asset.is_unproven) = (0, 0, 0, false);
        (asset.gdi_usage, asset.gdi_social) = (0.0, 0.0);
        asset.gdi = ((0.35 * asset.gdi_intrinsic + 0.15 * asset.gdi_freshness) * 10_000.0) as i64;
        (self.passes, self.fails, self.best_grade) = (0, 0, None);
        self
    }
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssetSort {
    Newest,
    Ranked,
    MostUsed,
}

/// Which assets.
#[derive(Debug, Clone, Default)]
pub struct AssetFilter {
    /// In one of these states.
    pub statuses: Vec<AssetStatus>,
    /// Of one of these types; of any when there are none.
    pub types: Vec<AssetType>,
    /// In this tier; in any but `delisted` when there is none.
    pub tier: Option<&'static str>,
    pub node_id: Option<String>,
    pub chain_id: Option<String>,
    pub category: Option<String>,
    /// Whose validation proves so much.
    pub label: Option<ProofLevel>,
}

/// Where a page ended: the value that the list is ordered by, and the sequence of the last asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPosition {
    /// Sequence, score or number of fetches.
    pub key: i64,
    pub seq: i64,
}

impl ListPosition {
    /// Before the first asset.
    pub const START: Self = Self { key: i64::MAX, seq: i64::MAX };
}

impl AssetSort {
    /// Where an asset stands in this order.
    pub fn position(self, asset: &AssetRow) -> ListPosition {
        let key = match self {
            Self::Newest => asset.seq,
            Self::Ranked => asset.gdi,
            Self::MostUsed => asset.call_count,
        };
        ListPosition { key, seq: asset.seq }
    }
}

macro_rules! listed {
    ($rest:literal) => {
        select!(ListedAsset, concat!("FROM assets a JOIN nodes n ON n.node_id = a.node_id ", $rest))
    };
}

/// One statement for each way that the list can be found, so that each uses its index.
macro_rules! page {
    ($key:literal) => {
        [
            page!(@text $key, "a.status = $1 AND a.asset_type = $2 AND $7 = $7"),
            page!(@text $key, "a.node_id = $7 AND a.status = $1 AND a.asset_type = $2"),
            page!(@text $key, "a.chain_id = $7 AND a.status = $1 AND a.asset_type = $2"),
            page!(@text $key, "a.status = $1 AND a.asset_type = $2 AND a.trust_tier = 'featured' AND $7 = $7"),
        ]
    };
    (@text $key:literal, $where:literal) => {
        select!(ListedAsset, concat!(
            "FROM assets a JOIN nodes n ON n.node_id = a.node_id WHERE ", $where,
            " AND (a.", $key, ", a.seq) < ($3, $4) AND ($5 IS NULL OR a.category = $5)
              AND ($8 IS NULL OR a.trust_tier = $8) AND a.trust_tier <> 'delisted' AND ($9 IS NULL OR a.proof = $9)
              AND a.scan_version > 0
             ORDER BY a.", $key, " DESC, a.seq DESC LIMIT $6"
        ))
    };
}

const NEWEST: [&str; 4] = page!("seq");
const RANKED: [&str; 4] = page!("gdi");
const MAX_USED: [&str; 4] = page!("call_count");

impl AssetFilter {
    /// Assets in one state.
    pub fn with_status(status: AssetStatus) -> Self {
        Self { statuses: vec![status], ..Self::default() }
    }

    /// The types it lets through.
    pub fn types(&self) -> &[AssetType] {
        if self.types.is_empty() { &AssetType::ALL } else { &self.types }
    }

    /// Which of the statements, and what `$7` is in it.
    fn plan(&self) -> (usize, &str) {
        match (&self.node_id, &self.chain_id) {
            (Some(node), _) => (1, node),
            (None, Some(chain)) => (2, chain),
            (None, None) if self.tier == Some("featured") => (3, ""),
            (None, None) => (0, ""),
        }
    }
}

/// The assets after a position, at most `limit` of them.
pub fn list(
    tx: &mut dyn Tx,
    filter: &AssetFilter,
    sort: AssetSort,
    after: ListPosition,
    limit: usize,
) -> Result<Vec<ListedAsset>> {
    let texts = match sort {
        AssetSort::Newest => NEWEST,
        AssetSort::Ranked => RANKED,
        AssetSort::MostUsed => MAX_USED,
    };
    let (plan, value) = filter.plan();
    let [plain, ..] = texts;
    let sql = texts.get(plan).copied().unwrap_or(plain);
    let mut assets = Vec::new();
    // Each state and type has its own stretch of the index; together they are put in order here.
    for status in &filter.statuses {
        for kind in filter.types() {
            assets.extend(tx.query_all(
                sql,
                params![
                    status.as_str(),
                    kind.as_str(),
                    after.key,
                    after.seq,
                    &filter.category,
                    limit as i64,
                    value,
                    filter.tier,
                    filter.label.map(ProofLevel::as_str)
                ],
            )?);
        }
    }
    // A chain may be asked for together with a node.
    if let (Some(_), Some(chain)) = (&filter.node_id, &filter.chain_id) {
        assets.retain(|listed: &ListedAsset| listed.asset.traits.chain_id.as_ref() == Some(chain));
    }
    let key = |listed: &ListedAsset| {
        let position = sort.position(&listed.asset);
        std::cmp::Reverse((position.key, position.seq))
    };
    assets.sort_by_key(key);
    assets.truncate(limit);
    Ok(assets)
}

/// How many assets a filter lets through; when that is more than can be counted in passing, at least how many.
pub fn total(tx: &mut dyn Tx, filter: &AssetFilter) -> Result<(i64, bool)> {
    let (plan, value) = filter.plan();
    let sql = match plan {
        1 => {
            "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN ($3 IS NULL OR c.category = $3) AND ($5 IS NULL OR c.trust_tier = $5)
                AND c.status = $1 AND c.asset_type = $2 AND c.trust_tier <> 'delisted' AND ($7 IS NULL OR c.proof = $7) THEN 1 ELSE 0 END), 0) AS BIGINT)
             FROM (SELECT category, trust_tier, status, asset_type, proof FROM assets WHERE node_id = $6 LIMIT $4) c"
        }
        2 => {
            "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN ($3 IS NULL OR c.category = $3) AND ($5 IS NULL OR c.trust_tier = $5)
                AND c.status = $1 AND c.asset_type = $2 AND c.trust_tier <> 'delisted' AND ($7 IS NULL OR c.proof = $7) THEN 1 ELSE 0 END), 0) AS BIGINT)
             FROM (SELECT category, trust_tier, status, asset_type, proof FROM assets WHERE chain_id = $6 LIMIT $4) c"
        }
        _ if filter.category.is_some() || filter.tier.is_some() || filter.label.is_some() => {
            "SELECT COUNT(*), CAST(COALESCE(SUM(CASE WHEN ($3 IS NULL OR c.category = $3) AND ($5 IS NULL OR c.trust_tier = $5)
                AND c.trust_tier <> 'delisted' AND ($7 IS NULL OR c.proof = $7) AND $6 = $6 THEN 1 ELSE 0 END), 0) AS BIGINT)
             FROM (SELECT category, trust_tier, proof FROM assets WHERE status = $1 AND asset_type = $2 LIMIT $4) c"
        }
        _ => {
            "SELECT COUNT(*), COUNT(*) FROM (SELECT 1 AS one FROM assets
             WHERE status = $1 AND asset_type = $2 AND ($3 IS NULL OR category = $3) AND ($5 IS NULL OR trust_tier = $5)
                AND $6 = $6 AND ($7 IS NULL OR proof = $7) LIMIT $4) c"
        }
    };
    let (mut total, mut more) = (0, false);
    for status in &filter.statuses {
        for kind in filter.types() {
            let (seen, fit) = tx.query_one::<(i64, i64)>(
                sql,
                params![
                    status.as_str(),
                    kind.as_str(),
                    &filter.category,
                    COUNTED,
                    filter.tier,
                    value,
                    filter.label.map(ProofLevel::as_str)
                ],
            )?;
            more |= seen >= COUNTED;
            total += fit;
        }
    }
    Ok((total, more))
}

/// How many rows one statement loads.
pub(crate) const BATCH: usize = 20;

/// Sixteen to twenty values for a statement with `$1` to `$20`; the last one is repeated where there are fewer.
pub(crate) fn padded<'a, T>(values: &'a [T], make: impl Fn(&'a T) -> Param<'a>) -> Vec<Param<'a>> {
    let mut params: Vec<Param<'a>> = values.iter().map(&make).collect();
    if let Some(last) = params.last().copied() {
        params.resize(BATCH, last);
    }
    params
}

const BY_SEQ_SQLITE: &str = listed!("WHERE a.seq IN (SELECT value FROM json_each($1))");
const BY_SEQ_POSTGRES: &str = listed!(
    "WHERE a.seq = ANY (ARRAY(SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST($1 AS JSON))))"
);

/// Assets by their sequence, in the order that is asked for. One statement, which reads a row for each.
pub fn by_seq(tx: &mut dyn Tx, seqs: &[i64]) -> Result<Vec<ListedAsset>> {
    if seqs.is_empty() {
        return Ok(Vec::new());
    }
    let sql = match tx.dialect() {
        Dialect::Sqlite => BY_SEQ_SQLITE,
        Dialect::Postgres => BY_SEQ_POSTGRES,
    };
    let mut loaded = HashMap::with_capacity(seqs.len());
    tx.query_each(sql, params![&serde_json::json!(seqs).to_string()], |listed: ListedAsset| {
        loaded.insert(listed.asset.seq, listed);
        Ok(())
    })?;
    Ok(seqs.iter().filter_map(|seq| loaded.remove(seq)).collect())
}

/// Assets by their ids, in the order that is asked for. Those that are not there are left out.
pub fn by_id(tx: &mut dyn Tx, ids: &[AssetId]) -> Result<Vec<ListedAsset>> {
    let mut loaded = HashMap::with_capacity(ids.len());
    for some in ids.chunks(BATCH) {
        let keep = |listed: ListedAsset| {
            loaded.insert(listed.asset.asset_id, listed);
            Ok(())
        };
        match some {
            [one] => tx.query_each(listed!("WHERE a.asset_id = $1"), params![one], keep)?,
            some => tx.query_each(
                listed!(
                    "WHERE a.asset_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                        $19, $20)"
                ),
                &padded(some, Param::from),
                keep,
            )?,
        }
    }
    Ok(ids.iter().filter_map(|id| loaded.remove(id)).collect())
}

/// The bodies of assets by their sequence, byte for byte.
pub fn bodies(tx: &mut dyn Tx, seqs: &[i64]) -> Result<HashMap<i64, String>> {
    let mut bodies = HashMap::with_capacity(seqs.len());
    for some in seqs.chunks(BATCH) {
        bodies.extend(match some {
            [one] => tx.query_all::<(i64, String)>("SELECT seq, body FROM assets WHERE seq = $1", params![*one])?,
            some => tx.query_all(
                "SELECT seq, body FROM assets WHERE seq IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                    $15, $16, $17, $18, $19, $20)",
                &padded(some, |seq| Param::from(*seq)),
            )?,
        });
    }
    Ok(bodies)
}

/// The bodies of the genes that capsules first came with, by the sequence of the capsule.
pub fn bodies_of_genes(tx: &mut dyn Tx, seqs: &[i64]) -> Result<HashMap<i64, String>> {
    let mut bodies = HashMap::with_capacity(seqs.len());
    for some in seqs.chunks(BATCH) {
        bodies.extend(tx.query_all::<(i64, String)>(
            "SELECT c.seq, g.body FROM assets c JOIN bundles b ON b.bundle_id = c.bundle_id
             JOIN assets g ON g.asset_id = b.gene_id
             WHERE c.asset_type = 'Capsule' AND c.seq IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                $15, $16, $17, $18, $19, $20)",
            &padded(some, |seq| Param::from(*seq)),
        )?);
    }
    Ok(bodies)
}

/// Assets that publishers call by this id of their own: those of the node, then those that anyone may have.
pub fn by_local_id(tx: &mut dyn Tx, node_id: &str, local_id: &str, limit: usize) -> Result<Vec<ListedAsset>> {
    tx.query_all(listed!(
            "WHERE a.local_id = $1 AND (a.node_id = $2 OR (a.status IN ('promoted', 'stale') AND a.trust_tier <> 'delisted'
                AND a.scan_version > 0))
             ORDER BY CASE WHEN a.node_id = $2 THEN 0 ELSE 1 END, a.gdi DESC, a.seq DESC LIMIT $3"
        ), params![local_id, node_id, limit as i64])
}

/// What a node published, newest first, whatever became of it.
pub fn published_by(
    tx: &mut dyn Tx,
    node_id: &str,
    asset_type: Option<AssetType>,
    status: Option<AssetStatus>,
    before: i64,
    limit: usize,
) -> Result<Vec<ListedAsset>> {
    tx.query_all(listed!(
            "WHERE a.node_id = $1 AND a.seq < $2 AND ($3 IS NULL OR a.asset_type = $3) AND ($4 IS NULL OR a.status = $4)
             ORDER BY a.seq DESC LIMIT $5"
        ), params![
            node_id,
            before,
            asset_type.map(AssetType::as_str),
            status.map(AssetStatus::as_str),
            limit as i64
        ])
}

/// How many assets a node published; when that is more than can be counted in passing, at least how many.
pub fn published_total(
    tx: &mut dyn Tx,
    node_id: &str,
    asset_type: Option<AssetType>,
    status: Option<AssetStatus>,
) -> Result<(i64, bool)> {
    let total = tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM assets a
         WHERE a.node_id = $1 AND ($2 IS NULL OR a.asset_type = $2) AND ($3 IS NULL OR a.status = $3) LIMIT $4) c",
        params![node_id, asset_type.map(AssetType::as_str), status.map(AssetStatus::as_str), COUNTED],
    )?;
    Ok((total, total >= COUNTED))
}

/// How many assets of others a node fetched and may still have, counted in the same way.
pub fn fetched_total(
    tx: &mut dyn Tx,
    node_id: &str,
    asset_type: Option<AssetType>,
    status: Option<AssetStatus>,
) -> Result<(i64, bool)> {
    let total = tx.count(
        "SELECT COUNT(*) FROM (SELECT 1 AS one FROM fetches f JOIN assets a ON a.asset_id = f.asset_id
         WHERE f.node_id = $1 AND ($2 IS NULL OR a.asset_type = $2) AND ($3 IS NULL OR a.status = $3)
            AND a.status IN ('promoted', 'stale', 'archived') AND a.scan_version > 0 LIMIT $4) c",
        params![node_id, asset_type.map(AssetType::as_str), status.map(AssetStatus::as_str), COUNTED],
    )?;
    Ok((total, total >= COUNTED))
}

/// What a node fetched of others and may still have, the last fetched first, with the time of the last fetch.
pub fn fetched_by(
    tx: &mut dyn Tx,
    node_id: &str,
    asset_type: Option<AssetType>,
    status: Option<AssetStatus>,
    before: ListPosition,
    limit: usize,
) -> Result<Vec<(ListedAsset, i64)>> {
    tx.query_all(select!(ListedAsset, ", f.last_at FROM fetches f JOIN assets a ON a.asset_id = f.asset_id JOIN nodes n ON n.node_id = a.node_id
             WHERE f.node_id = $1 AND (f.last_at, a.seq) < ($2, $3) AND ($4 IS NULL OR a.asset_type = $4)
                AND ($5 IS NULL OR a.status = $5) AND a.status IN ('promoted', 'stale', 'archived')
                AND a.scan_version > 0
             ORDER BY f.last_at DESC, a.seq DESC LIMIT $6"),
        params![
            node_id,
            before.key,
            before.seq,
            asset_type.map(AssetType::as_str),
            status.map(AssetStatus::as_str),
            limit as i64
        ])
}

/// The other assets of a chain, best first.
pub fn chain(tx: &mut dyn Tx, chain_id: &str, except: i64, limit: usize) -> Result<Vec<ListedAsset>> {
    tx.query_all(
        listed!(
            "WHERE a.chain_id = $1 AND a.seq <> $2 AND a.status IN ('candidate', 'promoted', 'stale') AND a.scan_version > 0
             ORDER BY a.gdi DESC, a.seq DESC LIMIT $3"
        ),
        params![chain_id, except, limit as i64],
    )
}

row! {
    /// A bundle that an asset came in.
    #[derive(Debug, Clone)]
    pub struct BundleRow {
        pub bundle_id: String = "bundle_id",
        pub gene: AssetId = "gene_id",
        pub capsule: AssetId = "capsule_id",
        pub event: Option<AssetId> = "event_id",
        /// The public key of the publisher, where it signed the bundle.
        pub signed_by: Option<Vec<u8>> = "signed_by",
    }
}

/// A bundle by its id.
pub fn bundle(tx: &mut dyn Tx, bundle_id: &str) -> Result<Option<BundleRow>> {
    tx.query_first(select!(BundleRow, "FROM bundles WHERE bundle_id = $1"), params![bundle_id])
}

/// The bundles that a gene or a capsule is in, in the order of their ids.
pub fn bundles_of(tx: &mut dyn Tx, id: &AssetId, limit: usize) -> Result<Vec<BundleRow>> {
    tx.query_all(
        select!(
            BundleRow,
            "FROM bundles WHERE gene_id = $1
         UNION SELECT bundle_id, gene_id, capsule_id, event_id, signed_by FROM bundles WHERE capsule_id = $1
         ORDER BY bundle_id LIMIT $2"
        ),
        params![id, limit as i64],
    )
}

/// Whether a node is asked to validate an asset, or one of the same bundle, just now.
pub fn is_assigned(tx: &mut dyn Tx, node_id: &str, id: &AssetId, now: Time) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM assignments s JOIN bundles b ON b.capsule_id = s.asset_id OR b.gene_id = s.asset_id
         WHERE s.node_id = $1 AND s.state = 'open' AND s.expires_at > $3
            AND (b.capsule_id = $2 OR b.gene_id = $2 OR b.event_id = $2)
         UNION ALL SELECT 1 FROM audits a JOIN assignments s ON s.asset_id = a.audit_id AND s.node_id = a.node_id
         WHERE a.audit_id = $2 AND a.node_id = $1 AND s.state = 'open' AND s.expires_at > $3",
        params![node_id, id, now],
    )
}
