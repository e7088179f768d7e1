import { Paged } from '$lib/hub/paged.svelte';
import type { NodeRow } from '$lib/hub/shapes';

/** What the page of nodes showed last. */
export const roster = new Paged<NodeRow>();
