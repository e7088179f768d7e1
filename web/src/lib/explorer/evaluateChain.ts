import type { Index } from '$lib/seal/bundle';
import { latest } from './metaCompare';
import { isSameConversation } from './metaRows';
import type { ScannedChain } from './scannedChain';
import type { Verdict, VerdictFinding, VerdictLevel } from './types';
import type { Verifier } from './verifier';

interface Evaluated {
	level: VerdictLevel;
	require: string;
	findings: VerdictFinding[];
}

export interface EvaluationInput {
	verifier: Verifier;
	index: Index;
	meta: ScannedChain | null;
	require: 'pinned' | 'any';
	isHome: boolean;
}

/** The verdict on one chain by the program's own rules: its records, what is claimed of it, and what the meta-chain says. */
export function evaluateChain(chain: ScannedChain, input: EvaluationInput): Verdict {
	const { verifier, meta, require, isHome } = input;
	const isMeta = chain === meta;
	const name = isMeta ? 'meta' : chain.id;
	const believed = meta?.metaEntries.slice(0, meta.folded?.verified ?? 0).filter((entry) => entry !== null);
	const entry = isMeta ? undefined : latest(believed ?? []).find((one) => isSameConversation(chain, one));
	const counts = entry ? [...entry.earlier, { count: entry.count, head: entry.head }] : [];
	const mismatch = chain.isMissing || chain.stopped !== null ? null : chain.findContradiction();
	const isThere = !chain.isMissing && (chain.stopped === null || chain.index.count > 0);
	const at = (scanned: ScannedChain, wanted: number[]) =>
		wanted.map((count) => [count, scanned.index.getHash(count - 1) ?? '']);
	const evaluated = verifier.evaluate<Evaluated>({
		require,
		chains: [
			...(isThere
				? [
						{
							id: chain.id,
							name,
							is_meta: isMeta,
							is_home: isHome,
							at: at(
								chain,
								counts.map(({ count }) => count)
							)
						}
					]
				: []),
			...(meta && !isMeta && !meta.isMissing
				? [{ id: meta.id, name: 'meta', is_meta: true, is_home: isHome, at: [] }]
				: [])
		],
		claims: mismatch ? [['contradiction', name, capitalize(mismatch)]] : [],
		expectations: [
			...counts.map(({ count, head }) => ['meta_entry', name, count, head]),
			...(chain.isMissing ? [['index', name, chain.claim?.length ?? 0, chain.claim?.head ?? null]] : [])
		],
		unreadable: chain.stopped === null ? [] : [[name, chain.stopped]]
	});
	const findings = evaluated.findings;
	const { level } = evaluated;
	const decisive = level === 'valid' ? undefined : findings.find((one) => one.level === level);
	return { ...chain.verdict(), level, reason: decisive?.message ?? '', findings, require: evaluated.require };
}

function capitalize(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
