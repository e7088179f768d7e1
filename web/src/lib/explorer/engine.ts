import { pqCheck } from '$lib/seal/pq';
import type {
	Bundle,
	BundleSource,
	BundleVerdict,
	ChainSummary,
	Engine,
	MetaView,
	Progress,
	ReaderRequest,
	RecordProblem,
	RecordQuery,
	RecordView,
	SearchResult,
	TamperDemo,
	UseSpan,
	Verdict
} from './types';
import { LocalPool, type CheckPool } from './checkPool';
import { BufferStore, cutChunks } from './chunks';
import { isTooDeep, parseSections } from './entry';
import { EngineError } from './engineError';
import { evaluateBundle, evaluateChain, type EvaluationInput } from './evaluateChain';
import { findUnlisted, openFiles, readText, type BundleFiles } from './files';
import { compareWithMeta } from './metaRows';
import { toTrust } from './rowIndex';
import { checkPostQuantum, ScannedChain, type ScanTools } from './scannedChain';
import { listRecords, searchRecords, sortByTime, type PositionedRecord } from './search';
import { ClosedError, Slices } from './slices';
import { summarizeUse } from './useSpans';
import { readLocalKeys, NO_KEYS } from './localKeys';
import { Verifier, type Index, type KeyInput, type RowChecks, type WholeRecord } from './verifier';

/** The name that the meta-chain goes by, unless a chain of the bundle has it. */
export const META = 'meta';

/** A search over everything loads no more records than this: they would not fit into a browser's memory. */
const MAX_RECORDS = 400_000;

/** Beside the page a chunk must fit into a slice of 12 ms; workers get larger ones. */
const CHUNK_SIZE = { worker: 256 << 10, page: 64 << 10 };
const SLICE_MS = 12;

export interface EngineParts {
	module: WebAssembly.Module;
	/** Starts the check workers; without it, records are checked in this thread, in slices. */
	startPool?: (module: WebAssembly.Module) => CheckPool | null;
}

/** What is open now. Opening something else ends all work on it. */
interface OpenBundleState {
	tools: ScanTools;
	chains: Map<string, ScannedChain>;
	meta: ScannedChain | null;
	/** What a verdict is made of, beside the records. */
	input: EvaluationInput;
	stop: AbortController;
}

export function createEngine(parts: EngineParts): Engine {
	return new PageEngine(parts);
}

class PageEngine implements Engine {
	private opened: OpenBundleState | null = null;
	/** Ends the work on what was opened last, also while it is being opened. */
	private opening: AbortController | null = null;
	private readonly verifier: Verifier;
	private readonly shared: CheckPool | null;
	private folds = 0;
	/** The last search of all texts. */
	private deep: { key: string; matches: Promise<Map<ScannedChain, Set<number>>> } | null = null;

	constructor({ module, startPool }: EngineParts) {
		this.verifier = new Verifier(module);
		this.shared = startPool?.(module) ?? null;
	}

	async open(source: BundleSource, pinned: string[], wishes: ReaderRequest = {}): Promise<Bundle> {
		this.leave();
		const stop = (this.opening = new AbortController());
		const files = openFiles(source, stop.signal);
		const local = source.kind === 'local' ? await readLocalKeys(files) : NO_KEYS;
		if (local.files) files.know(local.files);
		const index = await readBundle(files, this.verifier);
		const heads =
			local.isHome || files.has('heads.json') === false ? null : await readText(files, 'heads.json');
		const headsFault = heads === null ? null : this.verifier.setHeads(heads);
		const homeFault = local.isHome ? await this.takeHome(files) : null;
		const chains = new Map<string, ScannedChain>();
		for (const listed of index.chains) {
			if (!chains.has(listed.id))
				chains.set(listed.id, new ScannedChain(listed.id, `${listed.id}.json`, listed, listed.claim));
		}
		const named: KeyInput[] = [
			...index.keys.map((key): KeyInput => [key, 'bundled', null]),
			...local.keys,
			...(wishes.own ?? []).map((key): KeyInput => [key, 'own', null])
		];
		// A fingerprint pins every key here that begins with it.
		const pins = pinned.flatMap((pin) =>
			pin.length === 64 ? [pin] : named.map(([key]) => key).filter((key) => key.startsWith(pin))
		);
		const keys: KeyInput[] = [...named, ...pins.map((pin): KeyInput => [pin, 'pinned', null])];
		const known = this.verifier.setKeys(keys);
		const pool = this.shared ?? new LocalPool(this.verifier, new Slices(SLICE_MS, stop.signal));
		pool.setKeys(keys);
		const pq = local.pq ? await pqCheck(local.pq) : null;
		const hasMeta = index.meta !== null || (await isThere(files, 'meta.json'));
		const meta = hasMeta ? new ScannedChain(META, 'meta.json', null, index.meta) : null;
		const unlisted = await findUnlisted(files, [...chains.keys()]);
		if (stop.signal.aborted) throw new ClosedError();
		const hasPinned = known.some(([, , origin]) => origin === 'pinned') || pinned.length > 0;
		this.opened = {
			tools: {
				files,
				pool,
				verifier: this.verifier,
				buffers: new BufferStore(this.shared ? CHUNK_SIZE.worker : CHUNK_SIZE.page),
				pq,
				ownKeys: new Set(known.filter(([, , , isOwn]) => isOwn).map(([hex]) => hex)),
				nextFold: () => this.folds++
			},
			chains,
			meta,
			input: {
				verifier: this.verifier,
				chains,
				meta,
				require: wishes.require ?? defaultRequirement(local.isHome || wishes.own !== undefined, hasPinned),
				isExplicit: wishes.require !== undefined,
				noted: wishes.metaHeads ?? [],
				unlisted,
				unreadableFiles: Object.entries({ 'heads.json': headsFault, 'home.json': homeFault }).filter(
					(one): one is [string, string] => one[1] !== null
				)
			},
			stop
		};
		let length = index.meta?.length ?? null;
		if (meta && length === null) {
			await meta.scan(this.opened.tools);
			length = meta.index.count;
		}
		return {
			generatedAt: index.generatedAt,
			chains: [...chains.values()].map(summarizeChain),
			keys: known.map(([hex, fingerprint, origin]) => ({ fingerprint, hex, trust: toTrust(origin) })),
			meta: length,
			faults: index.faults
		};
	}

	async load(id: string, onProgress?: (progress: Progress) => void) {
		const chain = this.requireChain(id);
		const { tools } = this.requireOpened();
		if (!chain.isDone) await chain.scan(tools, onProgress);
		if (chain.isMissing)
			throw new EngineError('chain_missing', 'The index lists this chain, and it is not there.');
		if (chain.stopped !== null && chain.index.count === 0)
			throw new EngineError('chain_unreadable', chain.stopped);
		return chain.computeStats();
	}

	async find(query: RecordQuery): Promise<SearchResult> {
		const opened = this.requireOpened();
		if (query.chain !== null) {
			const chain = this.requireChain(query.chain);
			if (query.isDeep) await chain.ensureScanned(opened.tools);
			chain.begin(opened.tools);
			if (isUnfiltered(query) && !chain.isDone && chain.countExpected() > 0)
				return findPartly(chain, query, opened.tools);
			await chain.waitForRows(opened.tools);
			const matches = await this.findDeep(opened, query, [chain]);
			return { ...searchRecords(listRecords(chain), { ...query, matches }), isPartial: !chain.isDone };
		}
		const { records, taken, leftOut } = await this.loadAllRecords(opened);
		const matches = await this.findDeep(opened, query, taken);
		return { ...searchRecords(records, { ...query, matches }), leftOut };
	}

	async detail(id: string, position: number): Promise<RecordView> {
		const chain = this.requireChain(id);
		const { tools } = this.requireOpened();
		chain.begin(tools);
		let location = chain.isDone ? null : await chain.locate(position, tools);
		if (!location && position >= chain.index.count) await chain.ensureScanned(tools);
		location ??= await chain.locate(position, tools);
		if (!location) throw new Error(`The chain has no record ${position}.`);
		const record = this.verifier.record(await this.readRecord(chain, position, location));
		const checks = record.verdict;
		checks[4] = checkPostQuantum(checks, tools.pq, tools.ownKeys, () => record);
		const isIndexed = position < chain.index.count;
		const isLinked = isIndexed
			? checks[0] === position && checks[1] === chain.index.getHash(position - 1)
			: location.row.marks.link === true;
		if (isIndexed) chain.index.setMarks(position, checks, isLinked);
		return {
			...(isIndexed ? chain.index.getRow(id, position) : location.row),
			hash: checks[2],
			canonical: record.canonical,
			sections: parseSections(record.canonical),
			isTooDeep: isTooDeep(record.canonical),
			previousHash: checks[1],
			computedHash: record.computed_hash,
			seal: {
				hash: checks[2],
				signature: record.signature,
				signaturePq: record.signature_pq,
				signedAt: checks[6] ?? '',
				signedBy: checks[5]
			},
			problems: listRecordProblems(checks, position, isLinked)
		};
	}

	async verify(id: string, onProgress?: (progress: Progress) => void): Promise<Verdict> {
		const chain = this.requireChain(id);
		const opened = this.requireOpened();
		// The meta-chain says how long the others were, so it comes first.
		if (opened.meta && opened.meta !== chain)
			await opened.meta.ensureScanned(opened.tools).catch(() => undefined);
		await chain.scan(opened.tools, onProgress);
		return evaluateChain(chain, opened.input);
	}

	async evaluate(): Promise<BundleVerdict> {
		const { chains, meta, tools, input } = this.requireOpened();
		await scanAll([...(meta ? [meta] : []), ...chains.values()], tools);
		return evaluateBundle(input);
	}

	async use(id: string): Promise<UseSpan[]> {
		const chain = this.requireChain(id);
		await chain.ensureScanned(this.requireOpened().tools);
		return summarizeUse(chain.index);
	}

	async cancel(id: string): Promise<void> {
		this.requireChain(id).cancel();
	}

	async meta(): Promise<MetaView | null> {
		const opened = this.requireOpened();
		const { meta, chains, tools } = opened;
		if (!meta) return null;
		await meta.ensureScanned(tools);
		const verdict = evaluateChain(meta, opened.input);
		await scanAll([...chains.values()], tools);
		return { verdict, rows: compareWithMeta(meta, verdict, [...chains.values()]) };
	}

	async tamper(id: string): Promise<TamperDemo> {
		const chain = this.requireChain(id);
		await chain.ensureScanned(this.requireOpened().tools);
		chain.tampered = null;
		const position = Math.floor(chain.index.count / 2);
		if (chain.index.count === 0) throw new Error('The chain has no record to tamper with.');
		const record = this.verifier.record(await this.readRecord(chain, position));
		const before = record.canonical;
		const after = changeText(before);
		const checks = this.verifier.record(encodeRecord(record, after)).verdict;
		chain.tampered = { position, before, after, checks };
		return { position, before, after };
	}

	async restore(id: string): Promise<void> {
		this.requireChain(id).tampered = null;
	}

	close(): void {
		this.leave();
		this.shared?.close();
	}

	/** Takes what the program knows of the home beside its records. Returns what is wrong with it. */
	private async takeHome(files: BundleFiles): Promise<string | null> {
		const home = await readText(files, 'home.json');
		return home === null ? 'it is not there' : this.verifier.setHome(home);
	}

	private leave(): void {
		this.opening?.abort();
		for (const chain of this.opened?.chains.values() ?? []) chain.cancel();
		this.opened?.meta?.cancel();
		this.opened = null;
		this.deep = null;
	}

	/** The bytes of a record, read again, or the changed ones where it was changed for show. */
	private async readRecord(
		chain: ScannedChain,
		position: number,
		{ offset, length } = chain.index.getPlace(position)
	): Promise<Uint8Array> {
		const bytes = await this.requireOpened().tools.files.slice(chain.file, offset, length);
		const { tampered } = chain;
		if (tampered?.position !== position) return bytes;
		return encodeRecord(this.verifier.record(bytes), tampered.after);
	}

	/** Which records have the words anywhere in them: every file is read once more. */
	private findDeep(
		opened: OpenBundleState,
		{ isDeep, text }: RecordQuery,
		chains: ScannedChain[]
	): Promise<Map<ScannedChain, Set<number>>> | undefined {
		const words = text.trim();
		if (!isDeep || words === '') return undefined;
		const key = JSON.stringify([words, chains.map(({ id, index }) => [id, index.count])]);
		if (this.deep?.key !== key) this.deep = { key, matches: this.searchTexts(opened, words, chains) };
		return this.deep.matches;
	}

	private async searchTexts(
		{ tools }: OpenBundleState,
		words: string,
		chains: ScannedChain[]
	): Promise<Map<ScannedChain, Set<number>>> {
		tools.pool.setWords(words);
		const all = new Map<ScannedChain, Set<number>>();
		for (const chain of chains) {
			const stream = await tools.files.open(chain.file);
			const matches = new Set<number>();
			all.set(chain, matches);
			if (!stream) continue;
			const running = new Set<Promise<void>>();
			let first = 0;
			try {
				for await (const chunk of cutChunks(stream, tools.buffers)) {
					const begin = first;
					first += chunk.offsets.length;
					const work = tools.pool.run('search', chunk.buffer, chunk.length).then(({ output, buffer }) => {
						tools.buffers.giveBack(buffer);
						const indexes = JSON.parse(new TextDecoder().decode(output)) as number[];
						for (const index of indexes) matches.add(begin + index);
					});
					running.add(work);
					void work.finally(() => running.delete(work)).catch(() => undefined);
					if (running.size >= tools.pool.width) await Promise.race(running);
				}
			} catch {
				// What cannot be read is said of the chain itself.
			}
			await Promise.all(running);
		}
		return all;
	}

	/** The records of all chains by their moment, as many as fit. */
	private async loadAllRecords(
		opened: OpenBundleState
	): Promise<{ records: PositionedRecord[]; taken: ScannedChain[]; leftOut: number }> {
		const chains = [...opened.chains.values()];
		const taken: ScannedChain[] = [];
		let records = 0;
		for (const chain of chains) {
			if (records + (chain.claim?.length ?? 0) > MAX_RECORDS) continue;
			await chain.ensureScanned(opened.tools).catch(() => undefined);
			if (chain.index.count === 0) continue;
			records += chain.index.count;
			taken.push(chain);
		}
		return { records: sortByTime(taken), taken, leftOut: chains.length - taken.length };
	}

	private requireChain(id: string): ScannedChain {
		const { chains, meta } = this.requireOpened();
		const match = chains.get(id) ?? (id === META ? meta : null);
		if (!match) throw new EngineError('chain_missing', 'There is no such chain here.');
		return match;
	}

	private requireOpened(): OpenBundleState {
		if (!this.opened) throw new EngineError('closed', 'Nothing is open.');
		return this.opened;
	}
}

/** Reads those that were not read yet. What cannot be read is said of the chain. */
async function scanAll(chains: ScannedChain[], tools: ScanTools): Promise<void> {
	for (const chain of chains) {
		await chain.ensureScanned(tools).catch((problem: unknown) => {
			if (problem instanceof ClosedError) throw problem;
			chain.stopped = problem instanceof Error ? problem.message : String(problem);
		});
	}
}

/** Whose signatures count where nobody says: the home's own in a home, else pinned ones as soon as there is one. */
function defaultRequirement(isHome: boolean, hasPinned: boolean): string {
	if (isHome) return 'own';
	return hasPinned ? 'pinned' : 'any';
}

async function isThere(files: BundleFiles, name: string): Promise<boolean> {
	const known = files.has(name);
	if (known !== null) return known;
	const stream = await files.open(name);
	await stream?.cancel();
	return stream !== null;
}

function isUnfiltered({ text, type, isFailed, isDeep }: RecordQuery): boolean {
	return text.trim() === '' && type === null && !isFailed && !isDeep;
}

/** A window of a chain that is still being read: what is not known yet is left open. */
async function findPartly(chain: ScannedChain, query: RecordQuery, tools: ScanTools): Promise<SearchResult> {
	const total = chain.countExpected();
	const count = Math.max(0, Math.min(query.limit, total - query.offset));
	const positions = Array.from({ length: count }, (_, at) =>
		query.order === 'oldest' ? query.offset + at : total - 1 - query.offset - at
	);
	const rows = await chain.getRows(positions, tools);
	return { total, rows, types: chain.computeStats().types, isPartial: true };
}

async function readBundle(files: BundleFiles, verifier: Verifier): Promise<Index> {
	const text = await readText(files, 'index.json');
	if (text === null)
		throw new EngineError('no_bundle', 'There is no index.json here, so this is no bundle of chains.');
	try {
		return verifier.setIndex(text);
	} catch (problem) {
		const why = problem instanceof Error ? problem.message : String(problem);
		throw new EngineError('no_bundle', `index.json is not the index of a bundle: ${why}`);
	}
}

function summarizeChain({ id, listed, claim }: ScannedChain): ChainSummary {
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

/** What is wrong with one record, whatever stands before it. */
function listRecordProblems(checks: RowChecks, position: number, isLinked: boolean): RecordProblem[] {
	const [sequence, , , content, signed] = checks;
	const faults: RecordProblem[] = [];
	const add = (code: string, what: string) =>
		faults.push({ code, message: `${what} at ${position}`, position });
	if (content) add(...content);
	else if (sequence !== position) add((sequence ?? 0) > position ? 'missing' : 'link', 'sequence gap');
	else if (!isLinked) add('link', position === 0 ? 'genesis has previous_hash' : 'link broken');
	if (signed[0] !== null) add(signed[0], signed[1]);
	return faults;
}

/** A change that a reader sees: the summary says something else. Elsewhere, a space at the end. */
function changeText(canonical: string): string {
	const changed = canonical.replace(/("summary":")/, '$1Nothing happened here. ');
	return changed === canonical ? `${canonical} ` : changed;
}

function encodeRecord(record: WholeRecord, canonical: string): Uint8Array {
	const [, , hash, , , signedBy, signedAt] = record.verdict;
	return new TextEncoder().encode(
		JSON.stringify({
			hash,
			signature: record.signature,
			signature_pq: record.signature_pq,
			signed_at: signedAt,
			signed_by: signedBy,
			canonical
		})
	);
}
