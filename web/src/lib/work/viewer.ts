import { hub, unwrapResponse } from '$lib/api/client';
import { auth } from '$lib/api/session.svelte';
import type { BountyViewer } from './actions';
import type { BountyRow } from './types';

/** How many pages of one's own bounties are gone through to find one. */
const MAX_PAGES = 10;

/** Who looks at a bounty: whether it is their own, or their node's. */
export async function loadViewer(bounty: BountyRow): Promise<BountyViewer> {
	if (!auth.session) return { isCreator: false, isAdmin: false };
	const isCreator = bounty.creator_node_id
		? await ownsNode(bounty.creator_node_id)
		: await hasOffered(bounty);
	return { isCreator, isAdmin: auth.isAdmin };
}

async function ownsNode(node_id: string): Promise<boolean> {
	const me = await unwrapResponse(hub.GET('/account/me'));
	return me.nodes.some((node) => node.node_id === node_id);
}

/** The hub does not say which account offered a bounty, but it lists one's own bounties. */
async function hasOffered({ bounty_id, status }: BountyRow): Promise<boolean> {
	let cursor: string | undefined;
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const query = { status, limit: 100, ...(cursor ? { cursor } : {}) };
		const answer = await unwrapResponse(hub.GET('/bounty/my', { params: { query } }));
		if (answer.bounties.some((one) => one.bounty_id === bounty_id)) return true;
		if (!answer.next_cursor) return false;
		cursor = answer.next_cursor;
	}
	return false;
}
