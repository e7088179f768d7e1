import { readIndex, type Index } from '$lib/seal/bundle';
import { at, parse } from '$lib/seal/json';
import { fingerprint, KeySet, publicKey } from '$lib/seal/keys';
import { unhex } from '$lib/seal/hex';
import { pqCheck, type PqCheck } from '$lib/seal/pq';
import { checkSignature, isFault } from '$lib/seal/record';
import { sha3 } from '$lib/seal/hash';
import { skim } from '$lib/seal/skim';
import type {
	Bundle,
	BundleFault,
	ChainSummary,
	RecordView,
	Engine,
	RecordProblem,
	SearchResult,
	Progress,
	RecordQuery,
	BundleSource
} from './types';
import { isTooDeep, toTimelineRow, parseSections } from './entry';
import { openFiles, readText, type BundleFiles } from './files';
import { LoadedChain, type OnStep } from './loadedChain';
import { compareWithMeta } from './metaRows';
import { sortByTime, searchRecords, type PositionedEntry } from './search';
import { ClosedError, Slices, throttle } from './slices';
import { EngineError } from './engineError';

/** The name that the meta-chain goes by, unless a chain of the bundle has it. */
export const META = 'meta';

/** A search over everything loads no more records than this: they would not fit into a browser's memory. */
const MAX_RECORDS = 400_000;

/** How long work may hold the thread, in milliseconds: in a worker only other questions wait, beside the page the reader. */
export const SLICE_MS = { worker: 40, page: 12 };

/** What is open now. Opening something else ends all work on it. */
interface OpenBundleState {
	files: BundleFiles;
	chains: Map<string, LoadedChain>;
	meta: LoadedChain | null;
	keys: KeySet;
	pq: Promise<PqCheck | null>;
	stop: AbortController;
}

export function createEngine(slice = SLICE_MS.page): Engine {
	return new PageEngine(slice);
}

class PageEngine implements Engine {
	private opened: OpenBundleState | null = null;
	/** Ends the work on what was opened last, also while it is being opened. */
	private opening: AbortController | null = null;
	private all: PositionedEntry[] | null = null;

	constructor(private readonly slice: number) {}

	async open(source: BundleSource, pinned: string[]): Promise<Bundle> {
		this.close();
		const stop = (this.opening = new AbortController());
		const files = openFiles(source, stop.signal);
		const index = await readBundle(files);
		const chains = new Map<string, LoadedChain>();
		for (const listed of index.chains) {
			if (!chains.has(listed.id)) {
				chains.set(listed.id, new LoadedChain(listed.id, `${listed.id}.json`, listed, listed.claim));
			}
		}
		const keys = new KeySet();
		index.keys.forEach((key) => keys.add(key, 'bundled'));
		if (source.kind === 'local') await addLocalKeys(keys, files);
		pinned.forEach((pin) => addPin(keys, pin));
		const hasMeta = index.meta !== null || files.has('meta.json') === true;
		const meta = hasMeta ? new LoadedChain(META, 'meta.json', null, index.meta) : null;
		const pq = keys.pq ? pqCheck(keys.pq) : Promise.resolve(null);
		if (stop.signal.aborted) throw new ClosedError();
		this.opened = { files, chains, meta, keys, pq, stop };
		let length = index.meta?.length ?? null;
		if (meta && length === null) {
			await meta.load(files, this.slices(this.opened), () => undefined);
			length = meta.entries.length;
		}
		return {
			generatedAt: index.generatedAt,
			chains: [...chains.values()].map(summarizeChain),
			keys: keys
				.all()
				.map(({ key, origin }) => ({ fingerprint: fingerprint(key), hex: key.hex, trust: origin })),
			meta: length,
			faults: listBundleFaults(index)
		};
	}

	async load(id: string, onProgress?: (progress: Progress) => void) {
		const chain = this.requireChain(id);
		await this.loadChain(this.requireOpened(), chain, throttleSteps(id, onProgress));
		if (chain.isMissing)
			throw new EngineError('chain_missing', 'The index lists this chain, and it is not there.');
		if (chain.stopped !== null && chain.entries.length === 0)
			throw new EngineError('chain_unreadable', chain.stopped);
		return chain.computeStats();
	}

	async find(query: RecordQuery): Promise<SearchResult> {
		if (query.chain !== null) {
			const chain = this.requireChain(query.chain);
			await this.loadChain(this.requireOpened(), chain, () => undefined);
			return searchRecords(positionRecords(chain), query);
		}
		const { records, leftOut } = await this.loadAllRecords(this.requireOpened());
		return { ...searchRecords(records, query), leftOut };
	}

	async detail(id: string, position: number): Promise<RecordView> {
		const chain = this.requireChain(id);
		const opened = this.requireOpened();
		await this.loadChain(opened, chain, () => undefined);
		const entry = chain.entries[position];
		if (!entry) throw new Error(`The chain has no record ${position}.`);
		const { canonical, seal } = entry.stored;
		entry.signed ??= checkSignature(seal, opened.keys, await opened.pq);
		chain.checkContent(position);
		return {
			...toTimelineRow(id, position, entry),
			canonical,
			sections: parseSections(canonical),
			isTooDeep: isTooDeep(canonical),
			previousHash: skim(canonical)?.previousHash ?? null,
			computedHash: sha3(canonical),
			seal: { ...seal, signedAt: seal.signedAt ?? '' },
			problems: listRecordProblems(chain, position)
		};
	}

	async verify(id: string, onProgress?: (progress: Progress) => void) {
		const chain = this.requireChain(id);
		const opened = this.requireOpened();
		return chain.verify((onStep) => this.verifyChain(opened, chain, onStep), throttleSteps(id, onProgress));
	}

	async meta() {
		const opened = this.requireOpened();
		const { meta, chains } = opened;
		if (!meta) return null;
		const verdict = await meta.verify(
			(onStep) => this.verifyChain(opened, meta, onStep),
			() => undefined
		);
		const slices = this.slices(opened);
		for (const chain of chains.values()) {
			await this.loadChain(opened, chain, () => undefined).catch((problem: unknown) => {
				chain.stopped = problem instanceof Error ? problem.message : String(problem);
			});
			if (chain.entries.some(({ content }) => content === undefined)) {
				await chain.checkContents(slices, () => undefined);
			}
		}
		return { verdict, rows: compareWithMeta(meta, verdict, [...chains.values()]) };
	}

	async tamper(id: string): Promise<number> {
		const chain = this.requireChain(id);
		await this.loadChain(this.requireOpened(), chain, () => undefined);
		return chain.tamper();
	}

	async restore(id: string): Promise<void> {
		this.requireChain(id).restore();
	}

	close(): void {
		this.opening?.abort();
		this.opened = null;
		this.all = null;
	}

	private async verifyChain(opened: OpenBundleState, chain: LoadedChain, onStep: OnStep) {
		await this.loadChain(opened, chain, onStep);
		await chain.checkContents(this.slices(opened), (done, total) => onStep('hashes', done, total));
		const pq = await opened.pq;
		await chain.checkSignatures(opened.keys, pq, this.slices(opened), (done, total) =>
			onStep('signatures', done, total)
		);
		return chain.verdict();
	}

	private async loadChain(opened: OpenBundleState, chain: LoadedChain, onStep: OnStep): Promise<void> {
		if (!chain.isLoaded) this.all = null;
		await chain.load(opened.files, this.slices(opened), (done, total) => onStep('reading', done, total));
	}

	/** The records of all chains by their moment, as many as fit. */
	private async loadAllRecords(
		opened: OpenBundleState
	): Promise<{ records: PositionedEntry[]; leftOut: number }> {
		const chains = [...opened.chains.values()];
		const taken: LoadedChain[] = [];
		let records = 0;
		for (const chain of chains) {
			if (records + (chain.claim?.length ?? 0) > MAX_RECORDS) continue;
			await this.loadChain(opened, chain, () => undefined).catch(() => undefined);
			if (chain.entries.length === 0) continue;
			records += chain.entries.length;
			taken.push(chain);
		}
		this.all ??= sortByTime(taken.map(positionRecords));
		return { records: this.all, leftOut: chains.length - taken.length };
	}

	private requireChain(id: string): LoadedChain {
		const { chains, meta } = this.requireOpened();
		const match = chains.get(id) ?? (id === META ? meta : null);
		if (!match) throw new EngineError('chain_missing', 'There is no such chain here.');
		return match;
	}

	private requireOpened(): OpenBundleState {
		if (!this.opened) throw new EngineError('closed', 'Nothing is open.');
		return this.opened;
	}

	private slices(opened: OpenBundleState): Slices {
		return new Slices(this.slice, opened.stop.signal);
	}
}

async function readBundle(files: BundleFiles): Promise<Index> {
	const text = await readText(files, 'index.json');
	if (text === null)
		throw new EngineError('no_bundle', 'There is no index.json here, so this is no bundle of chains.');
	try {
		return readIndex(text);
	} catch (problem) {
		const why = problem instanceof Error ? problem.message : String(problem);
		throw new EngineError('no_bundle', `index.json is not the index of a bundle: ${why}`);
	}
}

function listBundleFaults({ contradictions, ambiguous, refused }: Index): BundleFault[] {
	const toFaults = (code: BundleFault['code'], messages: string[]) =>
		messages.map((message) => ({ code, message }));
	return [
		...toFaults('contradiction', contradictions),
		...toFaults('ambiguous_chain', ambiguous),
		...toFaults('key_refused', refused)
	];
}

/** The keys that this machine knows: its own, those its user pinned, and its post-quantum key where it has one. */
async function addLocalKeys(keys: KeySet, files: BundleFiles): Promise<void> {
	const known = parse((await readText(files, 'keys.json')) ?? '{}');
	const key = (value: unknown) => (typeof value === 'string' ? publicKey(value) : null);
	const own = key(at(known, 'own'));
	if (own) keys.add(own, 'own');
	const pinned = at(known, 'pinned');
	for (const pin of Array.isArray(pinned) ? pinned.map(key) : []) if (pin) keys.add(pin, 'pinned');
	const pq = at(known, 'pq');
	keys.pq = typeof pq === 'string' ? unhex(pq, 1952) : null;
}

/** Pins a whole key, or every key here that goes by the fingerprint. */
function addPin(keys: KeySet, pin: string): void {
	const whole = publicKey(pin);
	if (whole) keys.add(whole, 'pinned');
	else keys.candidates(pin.toLowerCase()).forEach(({ key }) => keys.add(key, 'pinned'));
}

function summarizeChain({ id, listed, claim }: LoadedChain): ChainSummary {
	return {
		id,
		tool: listed?.tool ?? '',
		title: listed?.title || listed?.session || id,
		length: claim?.length ?? 0,
		head: claim?.head ?? '',
		genesis: claim?.genesis ?? '',
		startedAt: claim?.startedAt ?? null,
		endedAt: claim?.endedAt ?? null,
		signers: claim?.signedBy ?? [],
		claimsIntact: claim?.hashesOk ?? false
	};
}

const positionCache = new WeakMap<object, PositionedEntry[]>();

/** The records of a chain with their places; made once, for every letter that is typed asks for them. */
function positionRecords({ id, entries }: LoadedChain): PositionedEntry[] {
	const made =
		positionCache.get(entries) ?? entries.map((entry, position) => ({ chain: id, position, entry }));
	positionCache.set(entries, made);
	return made;
}

function throttleSteps(chain: string, onProgress?: (progress: Progress) => void): OnStep {
	if (!onProgress) return () => undefined;
	const onStep = throttle(onProgress);
	return (step, done, total) => onStep({ chain, step, done, total });
}

/** What is wrong with one record, whatever stands before it. */
function listRecordProblems(chain: LoadedChain, position: number): RecordProblem[] {
	const entry = chain.entries[position];
	if (!entry) return [];
	const faults: RecordProblem[] = [];
	const add = (code: string, what: string) =>
		faults.push({ code, message: `${what} at ${position}`, position });
	if (entry.content) add(entry.content.code, entry.content.what);
	else if (!entry.isInPlace) add((entry.sequence ?? 0) > position ? 'missing' : 'link', 'sequence gap');
	else if (!entry.isLinked) add('link', position === 0 ? 'genesis has previous_hash' : 'link broken');
	if (entry.signed && isFault(entry.signed)) add(entry.signed.code, entry.signed.what);
	return faults;
}
