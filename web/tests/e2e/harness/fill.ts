import type { TestHub, TestNode, PublishedBundle } from './hub';

/** What the stories find on a hub that was filled by calls alone. */
export interface FilledHub {
	shop: TestNode;
	invoices: TestNode;
	crawler: TestNode;
	/** Promoted, fetched, reported, voted for. */
	retry: PublishedBundle;
	/** A candidate whose validation proves nothing. */
	hollow: PublishedBundle;
	/** A candidate with a real validation. */
	index: PublishedBundle;
	/** Somebody's account with credits, and its session. */
	ann: { email: string; token: string };
	admin: { email: string; token: string };
	bounty: string;
	task: string;
	/** A task that was cut into parts. */
	swarm: string;
}

export async function fillHub(hub: TestHub): Promise<FilledHub> {
	const [shop, invoices, crawler] = [
		await hub.node('shop'),
		await hub.node('invoices'),
		await hub.node('crawler')
	];
	await hub.admin('root@example.org');
	const admin = { email: 'root@example.org', token: await hub.login('root@example.org') };
	const ann = { email: 'ann@example.org', token: await hub.register('ann@example.org') };
	await hub.operator('grant-credits', ann.email, '500', '--reason', 'to try it');

	const retry = await shop.publish({
		signal: 'TimeoutError',
		summary: 'Call again after a timeout, a little later each time.'
	});
	const reset = await invoices.publish({
		signal: 'ECONNRESET',
		summary: 'Open the connection again once before failing.'
	});
	const index = await crawler.publish({
		signal: 'SlowQuery',
		summary: 'Add an index for the listing query.',
		category: 'optimize'
	});
	const hollow = await crawler.publish({
		signal: 'DeprecatedCall',
		summary: 'Replace a removed call by its successor.',
		validation: 'node --version'
	});
	for (const asset of [retry.capsule, reset.capsule]) await promoteAsset(hub, asset, admin.token);
	await invoices.fetch(retry.capsule);
	await crawler.fetch(retry.capsule);
	await invoices.report(retry.capsule, true);
	await crawler.report(retry.capsule, false);
	await hub.call('POST', `/a2a/assets/${encodeURIComponent(retry.capsule)}/vote`, { vote: 'up' }, ann.token);

	const offered = await offerBounty(hub, ann.token, 'Make the mailer survive a full disk', 20, 'ENOSPC');
	const shared = await offerBounty(hub, ann.token, 'Invoices in two currencies, with tests', 60, 'currency');
	await invoices.task('claim', shared.task);
	await invoices.task('propose-decomposition', shared.task, {
		subtasks: [
			{ title: 'Convert amounts', signals: 'currency', weight: 0.45 },
			{ title: 'Show both amounts', signals: 'currency', weight: 0.35 }
		]
	});
	const { bounty, task } = offered;
	return { shop, invoices, crawler, retry, hollow, index, ann, admin, bounty, task, swarm: shared.task };
}

export async function promoteAsset(hub: TestHub, asset: string, token: string): Promise<void> {
	const path = `/admin/assets/${encodeURIComponent(asset)}/promote`;
	await hub.call('POST', path, { reason: 'It is small and its test is real.' }, token);
}

export async function offerBounty(
	hub: TestHub,
	token: string,
	title: string,
	amount: number,
	signals: string
): Promise<{ bounty: string; task: string }> {
	const made = await hub.call('POST', '/bounty/create', { title, amount, signals }, token);
	return { bounty: made.bounty_id, task: made.task_id };
}
