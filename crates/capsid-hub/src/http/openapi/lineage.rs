//! What an asset comes from and what came of it, as a drawing.

use super::describe::{told, words};

words! {
    /// What a point of a lineage is.
    LineageKind { Gene = "gene", Capsule = "capsule", Event = "event", Node = "node" }

    /// Why two points of a lineage are joined.
    LineageLink {
        MadeBy = "made_by", Implements = "implements", InEvent = "in_event", ReusedBy = "reused_by",
        Follows = "follows",
    }
}

told! {
    /// What an asset comes from, what came of it, and where each of it is drawn.
    Lineage {
        asset_id: String,
        nodes: Vec<LineageNode>,
        edges: Vec<LineageEdge>,
        /// How many nodes of other owners fetched the asset. Those that reported or reviewed are drawn.
        reuse_count: i64,
        /// There is more than is drawn.
        truncated: bool,
    }

    /// A point of the drawing.
    LineageNode {
        id: String,
        kind: LineageKind,
        /// The beginning of a summary, or the name that a node gave itself.
        label: String,
        status: String,
        is_focus: bool,
        /// 0 to 1, from left to right.
        x: f64,
        /// 0 to 1, from top to bottom.
        y: f64,
    }

    /// A line of the drawing.
    LineageEdge {
        from: String,
        to: String,
        kind: LineageLink,
    }
}
