import { PagedList } from '$lib/ui/pagedList.svelte';
import type { NodeRow } from '$lib/hub/types';

/** What the page of nodes showed last. */
export const nodeList = new PagedList<NodeRow>();
