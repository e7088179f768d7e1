import type { Listed } from '$lib/seal/bundle';
import { contradiction, type Claim, type Facts } from '$lib/seal/claim';
import { Chain, type ChainVerdict } from '$lib/seal/chain';
import type { KeySet } from '$lib/seal/keys';
import type { PqCheck } from '$lib/seal/pq';
import { checkContent, checkSignature, isFault } from '$lib/seal/record';
import { skim } from '$lib/seal/skim';
import { RecordReader, Unreadable } from '$lib/seal/records';
import type { RecordProblem, ChainStats, Trust, Verdict } from './types';
import { EntryBuilder, type ChainEntry } from './entry';
import type { BundleFiles } from './files';
import type { Slices } from './slices';

type OnCount = (done: number, total: number) => void;

/** How much of a file is looked at before others get their turn. */
const PIECE_SIZE = 1 << 18;

/** One chain: what is said of it, and its records once they are loaded. */
export class LoadedChain {
	entries: ChainEntry[] = [];
	/** Why its records could not be read, or not all of them. */
	stopped: string | null = null;
	isMissing = false;
	/** The place that was tampered with, and the text that stood there. */
	tampered: { position: number; canonical: string } | null = null;
	private loading: Promise<void> | null = null;
	private verifying: { result: Promise<Verdict>; listeners: Set<OnStep> } | null = null;

	constructor(
		readonly id: string,
		readonly file: string,
		readonly listed: Listed | null,
		readonly claim: Claim | null
	) {}

	/** Reads the records, once. */
	load(files: BundleFiles, slices: Slices, onProgress: OnCount): Promise<void> {
		this.loading ??= this.read(files, slices, onProgress).catch((problem: unknown) => {
			this.loading = null;
			throw problem;
		});
		return this.loading;
	}

	get isLoaded(): boolean {
		return this.loading !== null;
	}

	private async read(files: BundleFiles, slices: Slices, onProgress: OnCount): Promise<void> {
		if (this.listed && !this.listed.isPlain) {
			this.stopped = "The chain's id is no file name.";
			return;
		}
		const stream = await files.open(this.file);
		this.isMissing = stream === null;
		if (!stream) return;
		const reader = new RecordReader();
		const builder = new EntryBuilder();
		const entries: ChainEntry[] = [];
		this.stopped = null;
		const readEntries = async (): Promise<boolean> => {
			for (;;) {
				const stored = reader.next();
				if (!stored) return stored === null;
				entries.push(builder.build(stored));
				if (slices.isUsedUp()) {
					onProgress(entries.length, this.claim?.length ?? entries.length);
					await slices.pause();
				}
			}
		};
		try {
			for await (const piece of readPieces(stream)) {
				for (let at = 0; at < piece.length; at += PIECE_SIZE) {
					reader.feed(piece.subarray(at, at + PIECE_SIZE));
					await readEntries();
				}
			}
			reader.finish();
			await readEntries();
		} catch (problem) {
			if (!(problem instanceof Unreadable)) throw problem;
			this.stopped = problem.message;
		}
		this.entries = entries;
	}

	/** Checks texts, hashes and links, all anew. */
	async checkContents(slices: Slices, onProgress: OnCount): Promise<void> {
		for (let position = 0; position < this.entries.length; position++) {
			this.checkContent(position);
			if (slices.isUsedUp()) {
				onProgress(position + 1, this.entries.length);
				await slices.pause();
			}
		}
	}

	checkContent(position: number): void {
		const entry = this.entries[position];
		if (!entry) return;
		const result = checkContent(entry.stored);
		entry.content = isFault(result) ? result : null;
		// A text that is not the sealed one proves nothing, but where it says it belongs is worth showing.
		const head = isFault(result) ? skim(entry.stored.canonical) : result;
		const before = this.entries[position - 1]?.stored.seal.hash ?? null;
		entry.isInPlace = head?.sequence === position;
		entry.isLinked = head !== null && head.previousHash === before;
		if (head) entry.sequence = head.sequence;
	}

	/** Checks the signatures that were not checked yet. A signature covers a hash, so what it says never changes. */
	async checkSignatures(
		keys: KeySet,
		pq: PqCheck | null,
		slices: Slices,
		onProgress: OnCount
	): Promise<void> {
		for (const [position, entry] of this.entries.entries()) {
			entry.signed ??= checkSignature(entry.stored.seal, keys, pq);
			if (slices.isUsedUp()) {
				onProgress(position + 1, this.entries.length);
				await slices.pause();
			}
		}
	}

	/** The verdict on what is known now. A record that changed since it was checked is checked again. */
	evaluate(withSignatures = true): ChainVerdict {
		const chain = new Chain();
		for (const [position, entry] of this.entries.entries()) {
			if (entry.content === undefined) this.checkContent(position);
			const { seal } = entry.stored;
			chain.push({
				content: entry.content ?? null,
				sequence: entry.content ? null : entry.sequence,
				isLinked: entry.isLinked,
				signed: withSignatures ? entry.signed : null,
				hash: seal.hash,
				signedBy: seal.signedBy
			});
		}
		return chain.verdict();
	}

	/** What the page says of the chain: the verdict on its records, and on what was announced of them. */
	verdict(): Verdict {
		const result = this.evaluate();
		const faults = this.faults(result);
		const signers: Record<Trust, number> = { pinned: 0, own: 0, bundled: 0, unknown: 0 };
		for (const { origin, count } of result.signers.values()) signers[origin ?? 'unknown'] += count;
		return {
			chain: this.id,
			isIntact: faults.length === 0,
			checked: result.verified,
			length: result.total,
			signaturesChecked: this.entries.filter(({ signed }) => signed !== null).length,
			brokenAt: faults[0]?.position ?? null,
			faults,
			signers,
			notes: result.notes
		};
	}

	private faults(result: ChainVerdict): RecordProblem[] {
		if (this.isMissing) {
			return [{ code: 'missing', message: 'the index lists this chain, and it is not there', position: 0 }];
		}
		if (result.failure) {
			const { code, message } = result.failure;
			return [{ code, message, position: result.brokenAt ?? 0 }];
		}
		if (this.stopped !== null)
			return [{ code: 'chain_unreadable', message: this.stopped, position: result.total }];
		const mismatch = this.claim && contradiction(this.claim, this.facts());
		return mismatch ? [{ code: 'contradiction', message: mismatch, position: result.total }] : [];
	}

	private facts(): Facts {
		const seals = this.entries.map(({ stored }) => stored.seal);
		const signedBy = new Set(seals.map((seal) => seal.signedBy).filter((name) => name !== ''));
		return { length: seals.length, first: seals[0] ?? null, last: seals.at(-1) ?? null, signedBy };
	}

	/** Verifies; whoever asks while it is under way waits for the same verdict. */
	verify(work: (onProgress: OnStep) => Promise<Verdict>, onProgress: OnStep): Promise<Verdict> {
		if (!this.verifying) {
			const all = new Set<OnStep>();
			const result = work((...step) => all.forEach((each) => each(...step))).finally(
				() => (this.verifying = null)
			);
			this.verifying = { result, listeners: all };
		}
		this.verifying.listeners.add(onProgress);
		return this.verifying.result;
	}

	computeStats(): ChainStats {
		const types = new Map<string, number>();
		const tools = new Set<string>();
		const sum = { reasoned: 0, inputTokens: 0, outputTokens: 0 };
		for (const entry of this.entries) {
			types.set(entry.type, (types.get(entry.type) ?? 0) + 1);
			if (entry.tool !== '') tools.add(entry.tool);
			if (entry.hasReasoned) sum.reasoned++;
			sum.inputTokens += entry.inputTokens;
			sum.outputTokens += entry.outputTokens;
		}
		return { records: this.entries.length, types: Object.fromEntries(types), tools: tools.size, ...sum };
	}

	/** Puts a space behind the text of the record in the middle. */
	tamper(): number {
		this.restore();
		const position = Math.floor(this.entries.length / 2);
		const entry = this.entries[position];
		if (!entry) throw new Error('The chain has no record to tamper with.');
		const { canonical } = entry.stored;
		this.tampered = { position, canonical };
		this.replace(position, `${canonical} `);
		return position;
	}

	restore(): void {
		if (this.tampered) this.replace(this.tampered.position, this.tampered.canonical);
		this.tampered = null;
	}

	private replace(position: number, canonical: string): void {
		const entry = this.entries[position];
		if (!entry) return;
		entry.stored.canonical = canonical;
		entry.content = undefined;
	}
}

export type OnStep = (step: 'reading' | 'hashes' | 'signatures', done: number, total: number) => void;

/** Not every browser lets a stream be walked through. */
async function* readPieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
	const reader = stream.getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			yield value;
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}
