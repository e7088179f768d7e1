import type { RecordMarks, TimelineRow, Trust } from './types';
import type { CheckedRow } from './verifier';

export const TRUSTS: Trust[] = ['unknown', 'bundled', 'known', 'own', 'retired', 'pinned'];
/** Bits of the marks of a record. */
const HASH = 1;
const LINK = 2;
const SIGNATURE = 4;
const STRANGER = 8;
const TRUST_SHIFT = 4;
const REASONED = 1;
const AUTONOMOUS = 2;

/** Texts that come again and again, each kept once. */
class TextTable {
	readonly texts: string[] = [];
	private readonly numbers = new Map<string, number>();

	add(text: string): number {
		let number = this.numbers.get(text);
		if (number === undefined) {
			number = this.texts.push(text) - 1;
			this.numbers.set(text, number);
		}
		return number;
	}
}

/** The columns of the index, with room for so many records. */
function createColumns(room: number) {
	return {
		offset: new Float64Array(room),
		time: new Float64Array(room),
		length: new Uint32Array(room),
		input: new Uint32Array(room),
		output: new Uint32Array(room),
		duration: new Uint32Array(room),
		request: new Uint32Array(room),
		type: new Uint32Array(room),
		tool: new Uint32Array(room),
		status: new Uint32Array(room),
		signer: new Uint32Array(room),
		marks: new Uint8Array(room),
		flags: new Uint8Array(room),
		hash: new Uint8Array(32 * room)
	};
}

/** What is kept of the records of a chain: numbers in columns, about 90 bytes a record, and the summary. No text stays. */
export class RowIndex {
	count = 0;
	private room = 1024;
	private columns = createColumns(1024);
	private readonly summaries: string[] = [];
	private readonly texts = new TextTable();
	private readonly requests = new TextTable();
	/** Sequences and hashes that are not what the place says. */
	private readonly oddSequences = new Map<number, number | null>();
	private readonly oddHashes = new Map<number, string>();

	add(row: CheckedRow, offset: number, previousHash: string | null): void {
		const [, length, checks, facets] = row;
		const at = this.count++;
		if (at === this.room) this.grow();
		const { columns, texts } = this;
		const [sequence, previous, hash, , , signedBy] = checks;
		const time = facets[3] === null ? NaN : Date.parse(facets[3]);
		columns.offset[at] = offset;
		columns.length[at] = length;
		columns.time[at] = Number.isNaN(time) ? (at > 0 ? (columns.time[at - 1] ?? 0) : 0) : time;
		columns.input[at] = clamp(facets[6]);
		columns.output[at] = clamp(facets[7]);
		columns.duration[at] = clamp(facets[8]);
		columns.request[at] = this.requests.add(facets[4]);
		columns.type[at] = texts.add(facets[0] || 'unknown');
		columns.tool[at] = texts.add(facets[1]);
		columns.status[at] = texts.add(facets[2]);
		columns.signer[at] = texts.add(signedBy);
		columns.flags[at] = (facets[9] ? REASONED : 0) | (facets[10] ? AUTONOMOUS : 0);
		this.summaries.push(facets[5]);
		if (sequence !== at) this.oddSequences.set(at, sequence);
		if (!writeHash(columns.hash, at, hash)) this.oddHashes.set(at, hash);
		this.setMarks(at, checks, sequence === at && previous === previousHash);
	}

	setMarks(at: number, checks: CheckedRow[2], isLinked: boolean): void {
		const [, , , content, signed] = checks;
		const isHashWrong = content !== null && content[1] !== 'content is not a record';
		let marks = (isHashWrong ? 0 : HASH) | (isLinked ? LINK : 0);
		if (signed[0] === null) marks |= SIGNATURE | (TRUSTS.indexOf(toTrust(signed[2])) << TRUST_SHIFT);
		else if (signed[0] === 'unknown_signer') marks |= STRANGER;
		this.columns.marks[at] = marks;
	}

	getMarks(at: number): RecordMarks {
		const marks = this.columns.marks[at] ?? 0;
		const isSigned = (marks & SIGNATURE) !== 0;
		const signer = isSigned ? (TRUSTS[marks >> TRUST_SHIFT] ?? 'unknown') : null;
		return {
			hash: (marks & HASH) !== 0,
			link: (marks & LINK) !== 0,
			signature: isSigned,
			signer: (marks & STRANGER) !== 0 ? 'unknown' : signer
		};
	}

	getRow(chain: string, position: number): TimelineRow {
		const { columns, texts } = this;
		const flags = columns.flags[position] ?? 0;
		const time = columns.time[position] ?? 0;
		const text = (column: Uint32Array) => texts.texts[column[position] ?? 0] ?? '';
		return {
			chain,
			position,
			sequence: this.oddSequences.has(position) ? (this.oddSequences.get(position) ?? null) : position,
			type: text(columns.type),
			tool: text(columns.tool),
			status: text(columns.status),
			summary: this.summaries[position] ?? '',
			request: this.getRequest(position),
			requestId: columns.request[position] ?? 0,
			at: time > 0 ? new Date(time).toISOString() : null,
			duration: columns.duration[position] ?? 0,
			inputTokens: columns.input[position] ?? 0,
			outputTokens: columns.output[position] ?? 0,
			hasReasoned: (flags & REASONED) !== 0,
			isAutonomous: (flags & AUTONOMOUS) !== 0,
			hash: this.getHash(position) ?? '',
			marks: this.getMarks(position)
		};
	}

	getHash(at: number): string | null {
		if (at < 0 || at >= this.count) return null;
		const odd = this.oddHashes.get(at);
		if (odd !== undefined) return odd;
		let text = '';
		for (const byte of this.columns.hash.subarray(32 * at, 32 * at + 32)) text += HEX[byte];
		return text;
	}

	getPlace(at: number): { offset: number; length: number } {
		return { offset: this.columns.offset[at] ?? 0, length: this.columns.length[at] ?? 0 };
	}

	getTime(at: number): number {
		return this.columns.time[at] ?? 0;
	}

	getType(at: number): string {
		return this.texts.texts[this.columns.type[at] ?? 0] ?? '';
	}

	getStatus(at: number): string {
		return this.texts.texts[this.columns.status[at] ?? 0] ?? '';
	}

	getRequest(at: number): string {
		return this.requests.texts[this.columns.request[at] ?? 0] ?? '';
	}

	/** Type, summary and tool, in lower case. */
	getWords(at: number): string {
		const tool = this.texts.texts[this.columns.tool[at] ?? 0] ?? '';
		return `${this.getType(at)}\n${this.summaries[at] ?? ''}\n${tool}`.toLowerCase();
	}

	getTool(at: number): string {
		return this.texts.texts[this.columns.tool[at] ?? 0] ?? '';
	}

	getSigner(at: number): string {
		return this.texts.texts[this.columns.signer[at] ?? 0] ?? '';
	}

	getUse(at: number): {
		time: number;
		input: number;
		output: number;
		duration: number;
		hasReasoned: boolean;
	} {
		const { time, input, output, duration, flags } = this.columns;
		return {
			time: time[at] ?? 0,
			input: input[at] ?? 0,
			output: output[at] ?? 0,
			duration: duration[at] ?? 0,
			hasReasoned: ((flags[at] ?? 0) & REASONED) !== 0
		};
	}

	private grow(): void {
		this.room *= 2;
		const larger = createColumns(this.room);
		for (const name of Object.keys(larger) as (keyof typeof larger)[]) larger[name].set(this.columns[name]);
		this.columns = larger;
	}
}

/** A number as a column holds it: a larger one would begin again at 0. */
function clamp(number: number): number {
	return Math.min(number, 0xffff_ffff);
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function writeHash(column: Uint8Array, at: number, hash: string): boolean {
	if (!/^[0-9a-f]{64}$/.test(hash)) return false;
	for (let byte = 0; byte < 32; byte++)
		column[32 * at + byte] = parseInt(hash.slice(2 * byte, 2 * byte + 2), 16);
	return true;
}

/** The trust of a key by its origin, which is the same word. */
export function toTrust(origin: string): Trust {
	return TRUSTS.find((trust) => trust === origin) ?? 'unknown';
}
