import type { PqCheck } from '$lib/seal/pq';
import { BufferStore, cutChunks, type RecordChunk } from './chunks';
import type { CheckPool } from './checkPool';
import type { BundleFiles } from './files';
import { toMetaEntry, type MetaEntry } from './metaCompare';
import { RecordScanner, Unreadable } from './recordScanner';
import { RowIndex, TRUSTS, toTrust } from './rowIndex';
import { RowPreview } from './rowPreview';
import { ClosedError } from './slices';
import type { ChainStats, Progress, RecordProblem, TimelineRow, Trust, Verdict } from './types';
import type { CheckedRow, Claim, Conversation, FoldedChain, Listed, RowChecks, Verifier } from './verifier';

/** Everything that a scan works with. */
export interface ScanTools {
	files: BundleFiles;
	pool: CheckPool;
	verifier: Verifier;
	buffers: BufferStore;
	/** The check of post-quantum signatures, for records of these keys alone. */
	pq: PqCheck | null;
	ownKeys: Set<string>;
	nextFold(): number;
}

export interface TamperedRecord {
	position: number;
	before: string;
	after: string;
	checks: RowChecks;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** One chain: what is said of it, and the index of its records once they are read. Their texts are not kept. */
export class ScannedChain {
	index = new RowIndex();
	/** Why its records could not be read, or not all of them. */
	stopped: string | null = null;
	isMissing = false;
	isDone = false;
	folded: FoldedChain | null = null;
	tampered: TamperedRecord | null = null;
	/** Whose conversation the first record says this is. */
	conversation: Conversation | null = null;
	metaEntries: (MetaEntry | null)[] = [];
	/** Positions whose claimed time is more than ten minutes before that of the record before. */
	timeBreaks: number[] = [];
	private clock = NaN;
	private stop = new AbortController();
	/** While it is read again, what was read before stays on view. */
	private before: RowIndex | null = null;
	private preview: RowPreview | null = null;
	private scanning: Promise<void> | null = null;
	private readonly listeners = new Set<(progress: Progress) => void>();

	constructor(
		readonly id: string,
		readonly file: string,
		readonly listed: Listed | null,
		readonly claim: Claim | null
	) {}

	/** Reads and checks every record; whoever asks meanwhile waits for the same scan. */
	scan(tools: ScanTools, onProgress?: (progress: Progress) => void): Promise<void> {
		if (onProgress) this.listeners.add(onProgress);
		this.scanning ??= this.read(tools).finally(() => {
			this.scanning = null;
			this.listeners.clear();
		});
		return this.scanning;
	}

	/** Reads it if it was not read yet. */
	ensureScanned(tools: ScanTools): Promise<void> {
		return this.isDone ? Promise.resolve() : this.scan(tools);
	}

	/** Until there are rows to show, or none will come. */
	async waitForRows(tools: ScanTools): Promise<void> {
		if (this.isDone || this.index.count > 0) return;
		const scanned = this.scan(tools);
		let poll: ReturnType<typeof setInterval> | undefined;
		const some = new Promise<void>((done) => {
			poll = setInterval(() => this.index.count > 0 && done(), 20);
		});
		await Promise.race([scanned, some]).finally(() => clearInterval(poll));
		scanned.catch(() => undefined);
	}

	/** Begins to read it, unless somebody stopped that. */
	begin(tools: ScanTools): void {
		if (!this.isDone && this.index.count === 0 && !this.stop.signal.aborted)
			this.scan(tools).catch(() => undefined);
	}

	/** How many records there are, as far as anybody says so yet. */
	countExpected(): number {
		return Math.max(this.index.count, this.claim?.length ?? 0);
	}

	/** The rows of positions before all is read; null where nothing is known yet. */
	async getRows(positions: number[], tools: ScanTools): Promise<(TimelineRow | null)[]> {
		const find = (position: number) => this.findRow(position);
		const missing = positions.filter((position) => find(position) === null);
		const middle = missing[Math.floor(missing.length / 2)];
		if (middle !== undefined && this.claim?.length) {
			this.preview ??= new RowPreview(this.id, this.file, this.claim.length, tools.files, tools.pool);
			await this.preview.ensure(middle).catch(() => undefined);
		}
		return positions.map(find);
	}

	/** Where a record is in the file, and its row; null if nobody knows yet. */
	async locate(
		position: number,
		tools: ScanTools
	): Promise<{ row: TimelineRow; offset: number; length: number } | null> {
		const [row] = await this.getRows([position], tools);
		if (!row) return null;
		if (position < this.index.count) return { row, ...this.index.getPlace(position) };
		return this.preview?.get(position) ?? null;
	}

	private findRow(position: number): TimelineRow | null {
		if (position < this.index.count) return this.index.getRow(this.id, position);
		if (this.before && position < this.before.count) return this.before.getRow(this.id, position);
		return this.preview?.get(position)?.row ?? null;
	}

	cancel(): void {
		this.stop.abort();
	}

	private async read(tools: ScanTools): Promise<void> {
		this.stop = new AbortController();
		this.isDone = false;
		if (this.listed && !this.listed.isPlain) {
			this.stopped = "The chain's id is no file name.";
			this.isDone = true;
			return;
		}
		const stream = await tools.files.open(this.file);
		this.isMissing = stream === null;
		const fold = tools.nextFold();
		this.before = this.index.count > 0 ? this.index : null;
		this.index = new RowIndex();
		this.stopped = null;
		this.conversation = null;
		this.metaEntries = [];
		[this.timeBreaks, this.clock] = [[], NaN];
		const scanner = new RecordScanner();
		try {
			if (stream) await this.foldChunks(cutChunks(stream, tools.buffers, scanner), fold, tools);
		} catch (problem) {
			if (!(problem instanceof Unreadable)) throw problem;
			this.stopped = problem.message;
		} finally {
			this.folded = tools.verifier.endFold(fold, this.id, writeHeader(scanner.header));
		}
		this.isDone = true;
		[this.before, this.preview] = [null, null];
	}

	/** Chunks are checked at once and folded in the order of the file. */
	private async foldChunks(
		chunks: AsyncGenerator<RecordChunk>,
		fold: number,
		tools: ScanTools
	): Promise<void> {
		const queue: { chunk: RecordChunk; result: ReturnType<CheckPool['run']> }[] = [];
		let last = performance.now();
		const foldNext = async () => {
			const one = queue.shift();
			if (!one) return;
			const { output, buffer } = await one.result;
			if (this.stop.signal.aborted) throw new ClosedError();
			this.foldRows(output, buffer, one.chunk.offsets, fold, tools);
			tools.buffers.giveBack(buffer);
			if (performance.now() - last < PROGRESS_MS) return;
			last = performance.now();
			this.report(one.chunk.read);
		};
		try {
			for await (const chunk of chunks) {
				const result = tools.pool.run('check', chunk.buffer, chunk.length);
				result.catch(() => undefined);
				queue.push({ chunk, result });
				if (queue.length >= tools.pool.width) await foldNext();
			}
		} catch (problem) {
			if (!(problem instanceof Unreadable) || problem === NOT_TEXT) throw problem;
			while (queue.length > 0) await foldNext();
			throw problem;
		}
		while (queue.length > 0) await foldNext();
	}

	private foldRows(
		output: Uint8Array,
		buffer: ArrayBuffer,
		offsets: number[],
		fold: number,
		tools: ScanTools
	): void {
		const rows = JSON.parse(decoder.decode(output)) as (CheckedRow | null)[];
		const noText = rows.indexOf(null);
		const good = (noText < 0 ? rows : rows.slice(0, noText)) as CheckedRow[];
		let isChanged = noText >= 0;
		for (const [at, row] of good.entries()) {
			const position = this.index.count + at;
			if (this.tampered?.position === position) {
				row[2] = this.tampered.checks;
				isChanged = true;
			} else if (this.checkPostQuantum(row, buffer, tools)) isChanged = true;
		}
		tools.verifier.fold(fold, isChanged ? encoder.encode(JSON.stringify(good)) : output);
		for (const [at, row] of good.entries()) this.take(row, offsets[at] ?? 0);
		if (noText >= 0) throw NOT_TEXT;
	}

	/** Post-quantum signatures are checked here: the module has no code for them. Whether the row changed. */
	private checkPostQuantum(
		row: CheckedRow,
		buffer: ArrayBuffer,
		{ pq, ownKeys, verifier }: ScanTools
	): boolean {
		const [start, length, checks] = row;
		checks[4] = checkPostQuantum(checks, pq, ownKeys, () =>
			verifier.record(new Uint8Array(buffer, start, length))
		);
		return pq !== null;
	}

	private take(row: CheckedRow, offset: number): void {
		const position = this.index.count;
		const [, , , , , , signedAt] = row[2];
		const conversation = row[3][11];
		if (position === 0) this.conversation = conversation;
		const time = Date.parse(signedAt ?? '');
		if (time < this.clock - MAX_STEP_BACK_MS) this.timeBreaks.push(position);
		if (!Number.isNaN(time)) this.clock = time;
		if (this.id === 'meta' || conversation?.[2]) {
			this.metaEntries[position] = toMetaEntry(conversation, signedAt);
		}
		this.index.add(row, offset, this.index.getHash(position - 1));
	}

	private report(bytes: number): void {
		const done = this.index.count;
		const progress: Progress = {
			chain: this.id,
			done,
			total: Math.max(this.claim?.length ?? 0, done),
			bytes
		};
		for (const listener of this.listeners) listener(progress);
	}

	/** What the page says of the chain: the verdict on its records, and on what was announced of them. */
	verdict(): Omit<Verdict, 'level' | 'reason' | 'findings' | 'require' | 'position'> {
		const folded = this.folded;
		const faults = this.listFaults();
		const signers = Object.fromEntries(TRUSTS.map((trust) => [trust, 0])) as Record<Trust, number>;
		for (const [count, trust] of Object.values(folded?.signers ?? {})) signers[toTrust(trust)] += count;
		return {
			chain: this.id,
			isIntact: faults.length === 0,
			checked: folded?.verified ?? 0,
			length: folded?.total ?? 0,
			signaturesChecked: this.index.count,
			brokenAt: faults[0]?.position ?? null,
			faults,
			signers,
			notes: folded?.notes ?? []
		};
	}

	private listFaults(): RecordProblem[] {
		const { folded } = this;
		if (this.isMissing)
			return [{ code: 'missing', message: 'the index lists this chain, and it is not there', position: 0 }];
		const total = this.index.count;
		if (folded?.failure) {
			const [code, message] = folded.failure;
			return [{ code, message, position: folded.broken_at ?? 0 }];
		}
		if (this.stopped !== null) return [{ code: 'chain_unreadable', message: this.stopped, position: total }];
		const mismatch = folded?.contradiction;
		return mismatch ? [{ code: 'contradiction', message: mismatch, position: total }] : [];
	}

	/** The first record whose hash or link does not hold, in words. */
	findBreak(): string | null {
		for (let at = 0; at < this.index.count; at++) {
			const { hash, link } = this.index.getMarks(at);
			if (!hash) return `content hash mismatch at ${at}`;
			if (!link) return `link broken at ${at}`;
		}
		return null;
	}

	computeStats(): ChainStats {
		const types = new Map<string, number>();
		const tools = new Set<string>();
		const sum = { reasoned: 0, inputTokens: 0, outputTokens: 0 };
		const { index } = this;
		for (let at = 0; at < index.count; at++) {
			const use = index.getUse(at);
			types.set(index.getType(at), (types.get(index.getType(at)) ?? 0) + 1);
			if (index.getTool(at) !== '') tools.add(index.getTool(at));
			if (use.hasReasoned) sum.reasoned++;
			sum.inputTokens += use.input;
			sum.outputTokens += use.output;
		}
		return { records: index.count, types: Object.fromEntries(types), tools: tools.size, ...sum };
	}
}

const PROGRESS_MS = 100;
/** How far claimed times may go back from one record to the next. */
const MAX_STEP_BACK_MS = 600_000;
const NOT_TEXT = new Unreadable('The file holds no chain that can be read: it is not UTF-8.');

/** What is known of a signature after the post-quantum one beside it was looked at. */
export function checkPostQuantum(
	checks: RowChecks,
	pq: PqCheck | null,
	ownKeys: Set<string>,
	read: () => { signature_pq: string }
): RowChecks[4] {
	const signed = checks[4];
	if (!pq || signed[0] !== null || !signed[3] || !ownKeys.has(signed[1])) return signed;
	return pq(checks[2], read().signature_pq)
		? [null, signed[1], signed[2], false]
		: ['signature', 'post-quantum signature invalid'];
}

/** The members of a header, whose values are texts of JSON. */
function writeHeader(members: Record<string, string>): string {
	return `{${Object.entries(members)
		.map(([name, text]) => `${JSON.stringify(name)}:${text}`)
		.join(',')}}`;
}
