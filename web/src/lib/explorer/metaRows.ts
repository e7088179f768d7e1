import { compare, latest, type MetaEntry, type Present } from './metaCompare';
import type { MetaRow, MetaState, Verdict } from './types';
import type { ScannedChain } from './scannedChain';

const STATE_TEXTS: Record<MetaState, string> = {
	intact: 'It is as it was recorded.',
	grown: 'It went on after it was recorded, and all that was recorded is there.',
	truncated: 'It lost its end: fewer records are there than were recorded.',
	altered: 'Something in it was changed after it was recorded.',
	missing: 'It was recorded and is not here.',
	unsealed: 'It was never recorded, so nothing says whether it is whole.'
};

/**
 * Every conversation against the last record of it in the meta-chain, then the chains that were never recorded. Behind a
 * break of the meta-chain nothing is believed.
 */
export function compareWithMeta(meta: ScannedChain, verdict: Verdict, chains: ScannedChain[]): MetaRow[] {
	const entries = meta.metaEntries.slice(0, verdict.checked);
	const present = chains.filter((chain) => !chain.isMissing);
	const named = new Set<ScannedChain>();
	const rows = latest(entries.filter((entry) => entry !== null)).map((entry) => {
		const chain = present.find((one) => isSameConversation(one, entry)) ?? null;
		if (chain) named.add(chain);
		return toMetaRow(entry, chain);
	});
	const isBroken = verdict.checked < verdict.length;
	return [
		...rows,
		...present.filter((chain) => !named.has(chain)).map((chain) => toUnrecordedRow(chain, isBroken))
	];
}

function toMetaRow(entry: MetaEntry, chain: ScannedChain | null): MetaRow {
	const { state, why } = compare(entry, chain && toPresent(chain));
	return {
		chain: chain?.id ?? `${entry.tool}-${entry.session}`,
		tool: entry.tool,
		state,
		explained: why ? `${STATE_TEXTS[state]} (${why})` : STATE_TEXTS[state],
		length: entry.count,
		head: entry.head,
		sealedAt: entry.sealedAt,
		isPresent: chain !== null
	};
}

function toPresent(chain: ScannedChain): Present {
	return {
		length: chain.index.count,
		hashAt: (position) => chain.index.getHash(position),
		// Who signed is said of the chain itself; here it is about what was recorded of it.
		broken: chain.findBreak() ?? chain.stopped
	};
}

function toUnrecordedRow(chain: ScannedChain, isMetaBroken: boolean): MetaRow {
	const why = isMetaBroken
		? 'The meta-chain is broken, so nothing says whether it is whole.'
		: STATE_TEXTS.unsealed;
	return {
		chain: chain.id,
		tool: chain.listed?.tool ?? '',
		state: 'unsealed',
		explained: why,
		length: null,
		head: null,
		sealedAt: null,
		isPresent: true
	};
}

/**
 * Whether a chain is of the conversation: by its name, or by what its first record says where the name was changed to
 * be that of a file.
 */
export function isSameConversation({ listed, conversation }: ScannedChain, entry: MetaEntry): boolean {
	if (listed?.tool === entry.tool && listed.session === entry.session) return true;
	return conversation?.[0] === entry.tool && conversation[1] === entry.session;
}
