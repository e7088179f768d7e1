import type { components } from '$lib/api/schema';

/** What belongs to an account, as the hub tells it. */
type Schemas = components['schemas'];
export type Agent = Schemas['Agent'];
export type Begun = Schemas['Session'];
export type Claim = Schemas['ClaimCode'];
export type Delivery = Schemas['Delivery'];
export type Entry = Schemas['StatementEntry'];
export type Key = Schemas['ApiKey'];
export type Me = Schemas['AccountOverview'];
export type Statement = Schemas['Statement'];
export type Webhook = Schemas['Webhook'];
