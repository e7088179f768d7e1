/**
 * The interface between the pages of the Explorer and its engine. The engine reads, verifies and searches, in a worker
 * where there is one; the pages show a window of it. Nothing here can be cloned only in part: every value is plain data.
 */

/** Where chains come from. All four hold the same files: `index.json`, one file for each chain, `meta.json`. */
export type BundleSource =
	/** This machine, over `capsid trail explore`. */
	| { kind: 'local'; base: string; key: string }
	/** A bundle at an address of the same origin. */
	| { kind: 'url'; base: string }
	/** A folder that the reader chose, or dropped here: file names to files. */
	| { kind: 'folder'; files: Record<string, Blob> }
	/** The bundle that is embedded in this page: file names to their text. */
	| { kind: 'page'; files: Record<string, string> };

/** How much a key is trusted, in the words of the command line; `unknown` where nobody has the key. */
export type Trust = 'pinned' | 'own' | 'retired' | 'known' | 'bundled' | 'unknown';

export interface SignerKey {
	fingerprint: string;
	hex: string;
	trust: Trust;
}

export interface ChainSummary {
	id: string;
	tool: string;
	title: string;
	length: number;
	head: string;
	genesis: string;
	startedAt: string | null;
	endedAt: string | null;
	signers: string[];
	/** What the chain file says of itself; the verdict is what the page found out. */
	claimsIntact: boolean;
}

export interface Bundle {
	generatedAt: string | null;
	chains: ChainSummary[];
	keys: SignerKey[];
	/** How many entries the meta-chain has, or null where there is none. */
	meta: number | null;
	/** What is wrong with the bundle as a whole. With one of them it is broken, however good its chains are. */
	faults: BundleFault[];
}

export interface BundleFault {
	code: 'contradiction' | 'listed_twice' | 'key_refused';
	message: string;
}

/** A line of the timeline. */
export interface TimelineRow {
	chain: string;
	/** The place in the chain, from 0. */
	position: number;
	sequence: number | null;
	type: string;
	tool: string;
	/** What came of it, in the record's own word. */
	status: string;
	summary: string;
	request: string;
	/** Records with the same number answer the same prompt. */
	requestId: number;
	at: string | null;
	/** Milliseconds; 0 where the record does not say. */
	duration: number;
	inputTokens: number;
	outputTokens: number;
	hasReasoned: boolean;
	isAutonomous: boolean;
	hash: string;
	marks: RecordMarks;
}

/** What is known of a record so far. `null`: not checked yet. */
export interface RecordMarks {
	hash: boolean | null;
	link: boolean | null;
	signature: boolean | null;
	signer: Trust | null;
}

/** One record, whole. `canonical` is the exact text under the hash. */
export interface RecordView extends TimelineRow {
	canonical: string;
	/** The six sections as they were read from `canonical`, or null where it is no JSON. */
	sections: Record<string, unknown> | null;
	/** Whether the text has no sections only because it is nested too deep. */
	isTooDeep: boolean;
	previousHash: string | null;
	computedHash: string;
	seal: { hash: string; signature: string; signaturePq: string; signedAt: string; signedBy: string };
	problems: RecordProblem[];
}

/** What is wrong, with a stable code that the command line uses too. */
export interface RecordProblem {
	code: string;
	message: string;
	position: number;
}

export type VerdictLevel = 'valid' | 'unverified' | 'unreadable' | 'incomplete' | 'invalid';

/** One fact of a verdict, with the code that the command line uses too. */
export interface VerdictFinding {
	code: string;
	level: VerdictLevel;
	chain: string | null;
	position: number | null;
	message: string;
	fix: string | null;
}

export interface Verdict {
	chain: string;
	/** What all findings come to, by the program's own rules. */
	level: VerdictLevel;
	/** The sentence that decided the level; empty where it is valid. */
	reason: string;
	findings: VerdictFinding[];
	/** The record that decided the level; null where it is no record of this chain. */
	position: number | null;
	/** Whose signatures count: `pinned` as soon as the reader pinned a key, else `any`. */
	require: string;
	isIntact: boolean;
	checked: number;
	length: number;
	signaturesChecked: number;
	/** The first fault, if there is one. */
	brokenAt: number | null;
	faults: RecordProblem[];
	/** How many records each kind of signer signed. */
	signers: Record<Trust, number>;
	/** What was not checked, or looks odd, in sentences. */
	notes: string[];
}

/** The verdict on everything that is open. */
export interface BundleVerdict {
	level: VerdictLevel;
	/** The exit status of the command line for the same. */
	exit: number;
	require: string;
	/** The worst first. */
	findings: VerdictFinding[];
}

/** What a reader asks for beyond the defaults of the page. */
export interface ReaderRequest {
	own?: string[];
	require?: 'own' | 'pinned' | 'known' | 'any';
	/** Heads of the meta-chain that were noted elsewhere: how many records, and the hash of the last one. */
	metaHeads?: [count: number, hash: string][];
}

export interface Progress {
	chain: string;
	/** Records that were checked, and how many were announced. */
	done: number;
	total: number;
	/** How much of the file was read. */
	bytes: number;
}

export interface RecordQuery {
	/** One chain, or null for all of them. */
	chain: string | null;
	text: string;
	type: string | null;
	/** Only records that did not succeed: failed, blocked, partial, or with an unknown end. */
	isFailed?: boolean;
	/** Also search arguments, results and everything else in the records, which reads the files again. */
	isDeep?: boolean;
	order: 'newest' | 'oldest';
	offset: number;
	limit: number;
}

export interface SearchResult {
	total: number;
	/** Null where a chain is not read that far yet. */
	rows: (TimelineRow | null)[];
	/** How many there are of each type, for the filter. */
	types: Record<string, number>;
	/** How many chains were not looked through: they cannot be read, or all together would be too much. */
	leftOut?: number;
	/** Whether the chain is still being read, so that there may be more. */
	isPartial?: boolean;
}

/** What was done in a span of time, for the chart. */
export interface UseSpan {
	time: number;
	records: number;
	duration: number;
	inputTokens: number;
	outputTokens: number;
}

/** The record that was changed for show, before and after. */
export interface TamperDemo {
	position: number;
	before: string;
	after: string;
}

/** The statistics above a timeline. */
export interface ChainStats {
	records: number;
	types: Record<string, number>;
	reasoned: number;
	inputTokens: number;
	outputTokens: number;
	tools: number;
}

export type MetaState = 'intact' | 'grown' | 'truncated' | 'altered' | 'missing' | 'unsealed';

export interface MetaRow {
	chain: string;
	tool: string;
	state: MetaState;
	explained: string;
	length: number | null;
	head: string | null;
	sealedAt: string | null;
	isPresent: boolean;
}

export interface MetaView {
	verdict: Verdict;
	rows: MetaRow[];
}

/** The engine as the pages see it, whether it runs in a worker or beside them. */
export interface Engine {
	open(source: BundleSource, pinned: string[], wishes?: ReaderRequest): Promise<Bundle>;
	/** Loads a chain if it is not there yet. */
	load(chain: string, onProgress?: (progress: Progress) => void): Promise<ChainStats>;
	find(query: RecordQuery): Promise<SearchResult>;
	detail(chain: string, position: number): Promise<RecordView>;
	verify(chain: string, onProgress?: (progress: Progress) => void): Promise<Verdict>;
	/** The verdict on all chains and on what is said of them. Reads what was not read yet. */
	evaluate(): Promise<BundleVerdict>;
	/** Durations and tokens over time. */
	use(chain: string): Promise<UseSpan[]>;
	/** Stops reading a chain. What was checked stays on view, without a verdict. */
	cancel(chain: string): Promise<void>;
	meta(): Promise<MetaView | null>;
	/** Changes one record in memory and nowhere else, to show what verification finds. */
	tamper(chain: string): Promise<TamperDemo>;
	restore(chain: string): Promise<void>;
	close(): void;
}
