/** What an admin may do with an asset, by where it stands. The hub decides in the end. */
export type Change = 'promote' | 'reject' | 'quarantine' | 'release';

const ALLOWED: Record<string, Change[]> = {
	candidate: ['promote', 'quarantine', 'reject'],
	quarantined: ['release', 'reject'],
	promoted: ['quarantine'],
	stale: ['quarantine']
};

export function changesOf(status: string): Change[] {
	return ALLOWED[status] ?? [];
}

/** What is asked before, and told after. */
export const CHANGES: Record<Change, { button: string; title: string; follows: string; done: string }> = {
	promote: {
		button: 'Promote',
		title: 'Promote this asset?',
		follows:
			'Everybody can find and fetch it, whatever its score and the reports on it. Its bundle goes with it, and its publisher is rewarded.',
		done: 'was promoted'
	},
	reject: {
		button: 'Reject',
		title: 'Reject this asset for good?',
		follows: 'It is never given out, and that is final. Its publisher sees the reason.',
		done: 'was rejected'
	},
	quarantine: {
		button: 'Quarantine',
		title: 'Hold this asset back?',
		follows: 'Nobody gets it until an admin releases or rejects it.',
		done: 'is held back'
	},
	release: {
		button: 'Release',
		title: 'Let this asset go on?',
		follows: 'It is a candidate again, and is judged like every other.',
		done: 'is a candidate again'
	}
};

/** Who acted, as the audit writes it, in words and with the page that tells more. */
export function actorOf(actor: string): { text: string; href?: string } {
	const [kind, ...rest] = actor.split(':');
	const id = rest.join(':');
	if (kind === 'node' && id) return { text: id, href: `/nodes/${encodeURIComponent(id)}` };
	if (kind === 'user' && id) return { text: id };
	return { text: actor };
}

/** The page of what was changed, where there is one. */
export function subjectHref(kind: string, subject: string): string | undefined {
	const pages: Record<string, string> = { asset: 'assets', node: 'nodes', bounty: 'bounties', task: 'tasks' };
	const page = pages[kind];
	return page ? `/${page}/${encodeURIComponent(subject)}` : undefined;
}
