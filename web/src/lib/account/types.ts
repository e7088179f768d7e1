import type { components } from '$lib/api/schema';

/** The parts of an account in the answers of the hub. */
type Schemas = components['schemas'];
export type Agent = Schemas['Agent'];
export type NewSession = Schemas['Session'];
export type ClaimCode = Schemas['ClaimCode'];
export type Delivery = Schemas['Delivery'];
export type StatementEntry = Schemas['StatementEntry'];
export type ApiKey = Schemas['ApiKey'];
export type AccountOverview = Schemas['AccountOverview'];
export type Statement = Schemas['Statement'];
export type Webhook = Schemas['Webhook'];
