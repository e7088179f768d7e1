import { Paged } from '$lib/ui/paged.svelte';
import type { AssetRow } from '$lib/hub/shapes';

/** What the page of assets showed last. */
export const browsed = new Paged<AssetRow>();
