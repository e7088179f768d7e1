import { compare, latest, metaEntry, type MetaEntry, type Present } from '$lib/seal/meta';
import { parse, textAt } from '$lib/seal/json';
import type { MetaRow, MetaState, Verdict } from './types';
import type { LoadedChain } from './loadedChain';

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
export function compareWithMeta(meta: LoadedChain, verdict: Verdict, chains: LoadedChain[]): MetaRow[] {
	const believed = meta.entries.slice(0, verdict.checked);
	const entries = believed.map(({ stored }) => metaEntry(stored.canonical, stored.seal.signedAt));
	const present = chains.filter((chain) => !chain.isMissing);
	const named = new Set<LoadedChain>();
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

function toMetaRow(entry: MetaEntry, chain: LoadedChain | null): MetaRow {
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

function toPresent(chain: LoadedChain): Present {
	return {
		length: chain.entries.length,
		hashAt: (position) => chain.entries[position]?.stored.seal.hash ?? null,
		// Who signed is said of the chain itself; here it is about what was recorded of it.
		broken: chain.evaluate(false).failure?.message ?? chain.stopped
	};
}

function toUnrecordedRow(chain: LoadedChain, isMetaBroken: boolean): MetaRow {
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
function isSameConversation({ listed, entries }: LoadedChain, entry: MetaEntry): boolean {
	if (listed?.tool === entry.tool && listed.session === entry.session) return true;
	const first = entries[0]?.stored.canonical;
	if (first === undefined) return false;
	try {
		const content = parse(first);
		return (
			textAt(content, 'domain') === entry.tool && textAt(content, 'context', 'session_id') === entry.session
		);
	} catch {
		return false;
	}
}
