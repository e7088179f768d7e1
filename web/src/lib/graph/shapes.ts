import type { components } from '$lib/api/schema';

/** What the graph calls of a hub answer, by the names that the page uses. */
type Schemas = components['schemas'];
export type Drawing = Omit<Schemas['GraphDrawing'], 'credits_charged'>;
export type Thing = Schemas['DrawnThing'];
export type Relation = Schemas['DrawnLine'];
export type Hit = Schemas['GraphHit'];
export type Step = Schemas['DrawnStep'];
