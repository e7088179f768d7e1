import { Paged } from '$lib/ui/paged.svelte';
import type { NodeRow } from '$lib/hub/shapes';

/** What the page of nodes showed last. */
export const roster = new Paged<NodeRow>();
