import type { BundleFault, VerdictFinding, VerdictLevel } from './types';

/** The program's own verifier, one instance of its WebAssembly module. */
interface Exports {
	memory: WebAssembly.Memory;
	capsid_input(length: number): number;
	capsid_output(): number;
	capsid_output_len(): number;
	capsid_hash(): void;
	capsid_set_index(): void;
	capsid_set_heads(): void;
	capsid_set_home(): void;
	capsid_set_keys(): void;
	capsid_set_words(): void;
	capsid_check(): void;
	capsid_search(): void;
	capsid_record(): void;
	capsid_fold(chain: number): void;
	capsid_end_fold(chain: number): void;
	capsid_wanted(): void;
	capsid_evaluate(): void;
}

/** What is checked of one record: place, link, hash, faults of text and signature, and who says to have signed when. */
export type RowChecks = [
	sequence: number | null,
	previous: string | null,
	hash: string,
	content: [code: string, what: string] | null,
	signed: [code: string, what: string] | [null, key: string, origin: string, pqUnchecked: boolean],
	signedBy: string,
	signedAt: string | null
];

export type RowFacets = [
	type: string,
	tool: string,
	status: string,
	at: string | null,
	request: string,
	summary: string,
	inputTokens: number,
	outputTokens: number,
	duration: number,
	hasReasoned: boolean,
	isAutonomous: boolean,
	conversation: Conversation | null
];

/** Whose conversation a record is of, and what a record of the meta-chain says of one, or of a key. */
export type Conversation = [domain: unknown, session: unknown, result: Record<string, unknown> | null];

/** What a bundle says about a chain besides the records themselves. What has another type than it should says nothing. */
export interface Claim {
	length: number | null;
	head: string | null;
	genesis: string | null;
	hashesOk: boolean | null;
	signedBy: string[] | null;
	startedAt: string | null;
	endedAt: string | null;
}

/** A chain that an index lists. */
export interface Listed {
	id: string;
	/** Whether the id can only mean a file in the same folder. */
	isPlain: boolean;
	tool: string | null;
	session: string | null;
	title: string | null;
	claim: Claim;
}

/** What the index of a bundle says, and in what it contradicts itself. */
export interface Index {
	generatedAt: string | null;
	chains: Listed[];
	/** What it claims about the meta-chain; null where nothing is. */
	meta: Claim | null;
	/** In lowercase digits. */
	keys: string[];
	faults: BundleFault[];
}

/** What is asked for, and what the page knows beside the records. */
export interface VerdictQuestion {
	require: string;
	is_explicit: boolean;
	/** One chain alone, and the meta-chain. */
	only: string | null;
	missing: string[];
	unreadable: Record<string, string>;
	at: Record<string, Record<number, string>>;
	time_breaks: Record<string, number[]>;
	noted: [count: number, hash: string][];
	unlisted: string[];
	unreadable_files: [file: string, why: string][];
}

export interface Evaluated {
	level: VerdictLevel;
	exit: number;
	require: string;
	findings: VerdictFinding[];
	chains: { name: string; level: VerdictLevel }[];
}

/** A record of a chunk; null where its bytes are no text. */
export type CheckedRow = [start: number, length: number, checks: RowChecks, facets: RowFacets];

export interface WholeRecord {
	canonical: string;
	computed_hash: string;
	signature: string;
	signature_pq: string;
	verdict: RowChecks;
}

export interface FoldedChain {
	verified: number;
	total: number;
	broken_at: number | null;
	failure: [code: string, message: string] | null;
	signers: Record<string, [count: number, trust: string]>;
	notes: string[];
	/** In what the records contradict what the index says of them. */
	contradiction: string | null;
}

/** A key that signatures are checked with, and its place among the home's own ones. */
export type KeyInput = [hex: string, origin: string, epoch: number | null];

export type VerifierKey = [hex: string, fingerprint: string, origin: string, isOwn: boolean];

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Verifier {
	readonly #exports: Exports;

	constructor(module: WebAssembly.Module) {
		this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
	}

	hash(text: string): string {
		return this.#text('capsid_hash', encoder.encode(text));
	}

	/** Takes an index in place of everything that was read before. Throws what is wrong with it. */
	setIndex(text: string): Index {
		const [problem, index] = JSON.parse(this.#text('capsid_set_index', encoder.encode(text))) as
			| [string, null]
			| [null, Index];
		if (problem !== null) throw new Error(problem);
		return index;
	}

	/** Takes head statements. Returns what is wrong with the document. */
	setHeads(text: string): string | null {
		return JSON.parse(this.#text('capsid_set_heads', encoder.encode(text))) as string | null;
	}

	/** Takes what the program collected of the home. Returns what is wrong with the document. */
	setHome(text: string): string | null {
		return JSON.parse(this.#text('capsid_set_home', encoder.encode(text))) as string | null;
	}

	/** Takes the keys that signatures are checked with. Returns those that are keys, in the order of their digits. */
	setKeys(keys: KeyInput[]): VerifierKey[] {
		return JSON.parse(this.#text('capsid_set_keys', encoder.encode(JSON.stringify(keys)))) as VerifierKey[];
	}

	/** Runs over a chunk of records; the result is JSON in bytes. */
	run(work: 'check' | 'search', chunk: Uint8Array): Uint8Array {
		this.#call(`capsid_${work}`, chunk);
		return this.#output().slice();
	}

	setWords(words: string): void {
		this.#call('capsid_set_words', encoder.encode(words));
	}

	record(bytes: Uint8Array): WholeRecord {
		return JSON.parse(this.#text('capsid_record', bytes)) as WholeRecord;
	}

	/** Takes rows of a chain, which a number distinguishes from others that are read at once. */
	fold(chain: number, rows: Uint8Array): void {
		this.#call('capsid_fold', rows, chain);
	}

	/** Ends a chain. The header is what its own file says of it, as JSON. */
	endFold(chain: number, id: string, header: string): FoldedChain {
		this.#call('capsid_end_fold', encoder.encode(JSON.stringify([id, header])), chain);
		return JSON.parse(decoder.decode(this.#output())) as FoldedChain;
	}

	/** The lengths of each chain at which its hash is needed. */
	wanted(): Record<string, number[]> {
		return JSON.parse(this.#text('capsid_wanted', new Uint8Array(0))) as Record<string, number[]>;
	}

	evaluate(question: VerdictQuestion): Evaluated {
		return JSON.parse(this.#text('capsid_evaluate', encoder.encode(JSON.stringify(question)))) as Evaluated;
	}

	#text(name: keyof Exports & `capsid_${string}`, input: Uint8Array): string {
		this.#call(name, input);
		return decoder.decode(this.#output());
	}

	#call(name: keyof Exports & `capsid_${string}`, input: Uint8Array, chain = 0): void {
		const at = this.#exports.capsid_input(input.length);
		new Uint8Array(this.#exports.memory.buffer, at, input.length).set(input);
		(this.#exports[name] as (chain: number) => void)(chain);
	}

	/** Valid until the next call. */
	#output(): Uint8Array {
		const { memory, capsid_output, capsid_output_len } = this.#exports;
		return new Uint8Array(memory.buffer, capsid_output(), capsid_output_len());
	}
}
