import { hub, told } from '$lib/api/client';
import { who } from '$lib/api/session.svelte';
import type { Viewer } from './actions';
import type { BountyRow } from './types';

/** How many pages of one's own bounties are gone through to find one. */
const MOST_PAGES = 10;

/** Who looks at a bounty: whether it is their own, or their node's. */
export async function viewerOf(bounty: BountyRow): Promise<Viewer> {
	if (!who.session) return { isCreator: false, isAdmin: false };
	const isCreator = bounty.creator_node_id ? await owns(bounty.creator_node_id) : await offered(bounty);
	return { isCreator, isAdmin: who.isAdmin };
}

async function owns(node_id: string): Promise<boolean> {
	const me = await told(hub.GET('/account/me'));
	return me.nodes.some((node) => node.node_id === node_id);
}

/** The hub does not tell which account offered a bounty, but which bounties are one's own. */
async function offered({ bounty_id, status }: BountyRow): Promise<boolean> {
	let cursor: string | undefined;
	for (let page = 0; page < MOST_PAGES; page += 1) {
		const query = { status, limit: 100, ...(cursor ? { cursor } : {}) };
		const answer = await told(hub.GET('/bounty/my', { params: { query } }));
		if (answer.bounties.some((one) => one.bounty_id === bounty_id)) return true;
		if (!answer.next_cursor) return false;
		cursor = answer.next_cursor;
	}
	return false;
}
