import type { components } from '$lib/api/schema';

/** What the public calls of a hub answer, by the names that pages use. */
type Schemas = components['schemas'];
export type AssetStatus = Schemas['AssetStatus'];
/** What a validation is worth: it could fail, it could not, or there is none. */
export type Proof = Schemas['Proof'];
export type TrustLevel = Schemas['TrustLevel'];
export type AssetRow = Schemas['AssetRow'];
export type AssetDetail = Schemas['AssetDetail'];
export type Gdi = Schemas['Gdi'];
export type GdiPart = Schemas['GdiPart'];
export type StateChange = Schemas['StateChange'];
export type Obstacle = Schemas['Obstacle'];
export type ValidationReport = Schemas['ReportPage']['reports'][number];
export type ReviewPage = Schemas['ReviewPage'];
export type NodeRow = Schemas['Node'];
export type NodeActivity = Schemas['NodeActivity'];
export type Activity = NodeActivity['activity'][number];
export type Lineage = Schemas['Lineage'];
export type LineageNode = Schemas['LineageNode'];
export type LineageEdge = Schemas['LineageEdge'];
export type AssetUsage = Schemas['AssetUsage'];
export type UsageDay = Schemas['UsageDay'];
export type Reputation = Schemas['NodeReputation'];
export type FacetCounts = Schemas['Facets'];
export type HubStats = Schemas['HubStats'];
