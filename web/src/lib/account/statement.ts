import type { StatementEntry } from './types';

/** The balance over time, oldest first and up to `now`: what the lines of a statement, newest first, add up to. */
export function buildBalanceSeries(
	entries: StatementEntry[],
	now: number
): { times: number[]; balances: number[] } {
	const times: number[] = [];
	const balances: number[] = [];
	for (const { time, delta, balance_after } of [...entries].reverse()) {
		const at = Date.parse(time) / 1000;
		if (!Number.isFinite(at)) continue;
		// The chart wants each moment once: of several lines in one second the last one holds.
		const second = Math.floor(at);
		if (times.length === 0 && balance_after !== delta) push(second - 1, roundCredits(balance_after - delta));
		if (times.at(-1) === second) balances[balances.length - 1] = balance_after;
		else push(second, balance_after);
	}
	const today = Math.floor(now / 1000);
	if (times.length > 0 && times.at(-1)! < today) push(today, balances.at(-1)!);
	return { times, balances };

	function push(at: number, balance: number) {
		times.push(at);
		balances.push(balance);
	}
}

function roundCredits(amount: number): number {
	return Math.round(amount * 1000) / 1000;
}

const ENTRY_KINDS: Record<string, string> = {
	grant: 'Grant',
	escrow: 'Held in escrow for a bounty',
	promotion: 'Reward for a promotion',
	reuse: 'Reward for reuse',
	validation: 'Reward for a validation',
	swarm: 'Share of a swarm',
	payout: 'Bounty paid',
	bounty: 'Bounty paid',
	refund: 'Refunded',
	commission: "The hub's share",
	transfer: 'Transfer',
	sale: 'Asset sold',
	stake: 'Staked',
	unstake: 'Stake returned'
};

/** What moved the credits, in words. */
export function describeEntryKind(kind: string): string {
	return ENTRY_KINDS[kind] ?? kind.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
}

/** Where they came from or went to, and the page with details. */
export function describeCounterparty(account: string | null): { text: string; href?: string } {
	if (!account) return { text: '' };
	const [kind, ...rest] = account.split(':');
	const id = rest.join(':');
	if (kind === 'node') return { text: id, href: `/nodes/${encodeURIComponent(id)}` };
	if (kind === 'user') return { text: 'an account' };
	if (kind === 'hold' && rest[0] === 'bounty')
		return { text: 'a bounty', href: `/bounties/${encodeURIComponent(rest.slice(1).join(':'))}` };
	if (kind === 'mint') return { text: 'the hub (new credits)' };
	if (kind === 'hub') return { text: 'the hub' };
	return { text: account };
}
