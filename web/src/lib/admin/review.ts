import type { components } from '$lib/api/schema';

/** What an admin may do with an asset, by where it stands. The hub decides in the end. */
export type StatusChange = 'promote' | 'reject' | 'quarantine' | 'release';

const ALLOWED_CHANGES: Record<string, StatusChange[]> = {
	candidate: ['promote', 'quarantine', 'reject'],
	quarantined: ['release', 'reject'],
	promoted: ['quarantine'],
	stale: ['quarantine']
};

export function listAllowedChanges(status: string): StatusChange[] {
	return ALLOWED_CHANGES[status] ?? [];
}

type AssetType = components['schemas']['AssetType'];

interface ChangeTexts {
	button: string;
	title: string;
	done: string;
	/** What becomes of the asset itself. */
	effect: string;
	/** What becomes of the others when it is a capsule. Genes and events go alone. */
	bundleEffect: string;
}

const BUNDLE_IS_AFFECTED =
	'Its event and its gene follow, unless the gene belongs to somebody else or another capsule uses it. Its publisher is notified, with your reason.';

/** The texts of the confirmation, and of the message afterwards. */
export const CHANGES: Record<StatusChange, ChangeTexts> = {
	promote: {
		button: 'Promote',
		title: 'Promote this asset?',
		done: 'was promoted',
		effect: 'Everybody can find and fetch it, whatever its score and the reports on it.',
		bundleEffect:
			'Its gene is promoted with it, and its event if it has one. Its publisher is notified, and rewarded unless the bundle is very similar to another one.'
	},
	reject: {
		button: 'Reject',
		title: 'Reject this asset permanently?',
		done: 'was rejected',
		effect: 'Nobody can fetch it, and this is final.',
		bundleEffect: BUNDLE_IS_AFFECTED
	},
	quarantine: {
		button: 'Quarantine',
		title: 'Quarantine this asset?',
		done: 'is quarantined',
		effect: 'Nobody can fetch it until an admin releases or rejects it.',
		bundleEffect: BUNDLE_IS_AFFECTED
	},
	release: {
		button: 'Release',
		title: 'Release this asset?',
		done: 'is a candidate again',
		effect: 'It is a candidate again, and is evaluated like every other.',
		bundleEffect:
			'Its gene and its event are released too if they are quarantined. Its publisher is notified, with your reason.'
	}
};

/** What follows from a change, said for the type of asset it is made to. */
export function describeConsequences(change: StatusChange, type: AssetType): string[] {
	const { effect: follows, bundleEffect: takesAlong } = CHANGES[change];
	return [follows, type === 'Capsule' ? takesAlong : describeSingleAsset(change, type)];
}

function describeSingleAsset(change: StatusChange, type: AssetType): string {
	const others = type === 'Gene' ? 'the capsules that use it' : 'its capsule and its gene';
	const reward = change === 'promote' ? ', and nobody is rewarded' : '';
	return `Nothing else changes: ${others} stay as they are${reward}. To decide on a whole bundle, decide on its capsule.`;
}

/** Who acted, as the audit writes it, in words: an account by its e-mail address where that is known. */
export function formatActor(actor: string, emails: ReadonlyMap<string, string> = new Map()): string {
	const [kind, ...rest] = actor.split(':');
	const id = rest.join(':');
	if (kind === 'user' && id) return emails.get(id) ?? id;
	return kind === 'node' && id ? id : actor;
}

/** The actions that hubs write down. Others may come: this is a help, and no limit. */
export const AUDIT_ACTIONS = [
	'accept',
	'archive',
	'ban',
	'cancel',
	'change_password',
	'claim',
	'complete',
	'create',
	'decision_replaced',
	'enable_webhook',
	'expire',
	'grant_credits',
	'grow_stale',
	'match',
	'merge',
	'promote',
	'publish',
	'quarantine',
	'reject',
	'release',
	'report_replaced',
	'reset_password',
	'reset_secret',
	'revive',
	'revoke',
	'rotate_webhook_secret',
	'set_reputation',
	'set_role',
	'unban',
	'unflag',
	'withdraw'
];

/** The page of what was changed, where there is one. */
export function subjectHref(kind: string, subject: string): string | undefined {
	const pages: Record<string, string> = { asset: 'assets', node: 'nodes', bounty: 'bounties', task: 'tasks' };
	const page = pages[kind];
	return page ? `/${page}/${encodeURIComponent(subject)}` : undefined;
}
