import { Paged } from '$lib/ui/pagedList.svelte';
import type { AssetRow } from '$lib/hub/types';

/** What the page of assets showed last. */
export const browsed = new Paged<AssetRow>();
