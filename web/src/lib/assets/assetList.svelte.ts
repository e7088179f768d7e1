import { PagedList } from '$lib/ui/pagedList.svelte';
import type { AssetRow } from '$lib/hub/types';

/** What the page of assets showed last. */
export const assetList = new PagedList<AssetRow>();
