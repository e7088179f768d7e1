import type { ScannedChain } from './scannedChain';
import type { BundleVerdict, Verdict } from './types';
import type { Evaluated, Verifier } from './verifier';

/** What a verdict is made of, beside the records that the verifier took in. */
export interface EvaluationInput {
	verifier: Verifier;
	chains: ReadonlyMap<string, ScannedChain>;
	meta: ScannedChain | null;
	require: string;
	isExplicit: boolean;
	noted: [count: number, hash: string][];
	unlisted: string[];
	unreadableFiles: [file: string, why: string][];
}

/** The verdict on one chain by the program's own rules: its records, what is claimed of it, and what the meta-chain says. */
export function evaluateChain(chain: ScannedChain, input: EvaluationInput): Verdict {
	const isMeta = chain === input.meta;
	const { level, findings, require, chains } = evaluate(input, [chain], isMeta ? 'meta' : chain.id);
	const decisive = level === 'valid' ? undefined : findings.find((one) => one.level === level);
	const name = isMeta ? 'meta' : chains.find((one) => one.name !== 'meta')?.name;
	const position = name !== undefined && decisive?.chain === name ? decisive.position : null;
	return {
		...chain.verdict(),
		level,
		reason: decisive?.message ?? '',
		findings,
		require,
		position: level === 'invalid' ? position : null
	};
}

/** The verdict on all chains, which were read before. */
export function evaluateBundle(input: EvaluationInput): BundleVerdict {
	const { level, exit, require, findings } = evaluate(input, [...input.chains.values()], null);
	return { level, exit, require, findings };
}

function evaluate(input: EvaluationInput, chains: ScannedChain[], only: string | null): Evaluated {
	const { verifier, meta } = input;
	const all = [...new Set(meta ? [meta, ...chains] : chains)].map((chain): [string, ScannedChain] => [
		chain === meta ? 'meta' : chain.id,
		chain
	]);
	const wanted = verifier.wanted();
	wanted['meta'] = [...(wanted['meta'] ?? []), ...input.noted.map(([count]) => count)];
	const hashes = (chain: ScannedChain, counts: number[]) =>
		Object.fromEntries(
			counts.flatMap((count): [number, string][] => {
				const hash = chain.index.getHash(count - 1);
				return hash === null ? [] : [[count, hash]];
			})
		);
	return verifier.evaluate({
		require: input.require,
		is_explicit: input.isExplicit,
		only,
		missing: all.filter(([, chain]) => chain.isMissing).map(([id]) => id),
		unreadable: Object.fromEntries(
			all.flatMap(([id, { stopped, isMissing }]) => (stopped === null || isMissing ? [] : [[id, stopped]]))
		),
		at: Object.fromEntries(all.map(([id, chain]) => [id, hashes(chain, wanted[id] ?? [])])),
		time_breaks: Object.fromEntries(all.map(([id, chain]) => [id, chain.timeBreaks])),
		noted: input.noted,
		unlisted: input.unlisted,
		unreadable_files: input.unreadableFiles
	});
}
