import { parse } from './exactJson';

/** The member of a chain file that holds its records. */
const RECORDS = 'capsules';

/** The members of a chain file that claim something about its records. */
const CLAIMS = new Set([
	'length',
	'head_hash',
	'genesis_hash',
	'all_hashes_ok',
	'signed_by',
	'started_at',
	'ended_at'
]);

/** Longer values are refused instead of filling the memory, as the program does. */
const MAX_VALUE_LEN = 256 << 20;

/** The bytes of one record, valid until the next call, and where they are in the file. */
export interface RecordBytes {
	bytes: Uint8Array;
	offset: number;
}

/** A file that holds no chain that can be read. */
export class Unreadable extends Error {}

/** Thrown inside when the next step needs bytes that have not come yet. */
const MORE = Symbol('more');

type State = 'start' | 'first' | 'more' | 'done';

/**
 * The records of a JSON file, one after the other, while its bytes come in: a list of sealed records, one record alone,
 * or a bundle's chain file. No more than one record is held.
 */
export class RecordScanner {
	/** What a chain file says of itself: the members that are compared with its records. */
	readonly header: Record<string, string> = {};
	private bytes = new Uint8Array(0);
	private at = 0;
	private end = 0;
	/** Where the buffer begins in the file. */
	private base = 0;
	private isWhole = false;
	private state: State = 'start';
	private inObject = false;
	/** No try before this many bytes are there: a long value is not read from its start with every piece. */
	private enough = 0;
	private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

	/** Takes the next piece of the file. */
	feed(piece: Uint8Array): void {
		const left = this.end - this.at;
		if (left + piece.length > this.bytes.length) {
			const larger = new Uint8Array(Math.max(1 << 16, 2 * (left + piece.length)));
			larger.set(this.bytes.subarray(this.at, this.end));
			this.bytes = larger;
		} else if (this.at > 0) {
			this.bytes.copyWithin(0, this.at, this.end);
		}
		this.bytes.set(piece, left);
		this.base += this.at;
		this.at = 0;
		this.end = left + piece.length;
	}

	/** Says that nothing more comes. */
	finish(): void {
		this.isWhole = true;
	}

	/** The next record; null after the last, and undefined when more of the file is needed. */
	next(): RecordBytes | null | undefined {
		if (!this.isWhole && this.end - this.at < this.enough) return undefined;
		const from = { at: this.at, state: this.state, inObject: this.inObject };
		try {
			const record = this.step();
			this.enough = 0;
			return record;
		} catch (problem) {
			if (problem !== MORE) {
				this.state = 'done';
				throw problem;
			}
			Object.assign(this, from);
			this.enough = 2 * (this.end - this.at);
			if (this.enough > 2 * MAX_VALUE_LEN) throw broken('one of its values is longer than 256 MB');
			return undefined;
		}
	}

	private step(): RecordBytes | null {
		if (this.state === 'done') return null;
		if (this.state === 'start') {
			const alone = this.begin();
			if (alone) return alone;
		}
		if (this.state === 'first' ? this.pass(']') : !this.pass(',')) {
			if (this.state === 'more') this.demand(']');
			return this.close();
		}
		this.state = 'more';
		return this.take(...this.value());
	}

	/** Goes to the first record of a list or a chain file; any other object is a record alone. */
	private begin(): RecordBytes | null {
		if (!this.isWhole && this.end - this.at < 3) throw MORE;
		if (this.bytes[this.at] === 0xef && this.bytes[this.at + 1] === 0xbb && this.bytes[this.at + 2] === 0xbf)
			this.at += 3;
		const first = this.peek();
		const start = this.at;
		if (first !== '[' && first !== '{') throw broken('it is neither a JSON list nor a JSON object');
		this.inObject = first === '{';
		this.at++;
		if (this.inObject && !this.members()) {
			const end = this.at;
			this.ensureEnd();
			this.state = 'done';
			return this.take(start, end);
		}
		if (this.inObject) this.demand('[');
		this.state = 'first';
		return null;
	}

	/** Passes the members of an object; whether its records come next. */
	private members(): boolean {
		if (this.pass('}')) return false;
		for (;;) {
			const name = this.name();
			this.demand(':');
			if (name === RECORDS && this.peek() === '[') return true;
			try {
				const text = this.text();
				parse(text);
				if (CLAIMS.has(name)) this.header[name] = text;
			} catch (problem) {
				throw problem instanceof Error && !(problem instanceof Unreadable)
					? broken(problem.message)
					: problem;
			}
			if (this.pass(',')) continue;
			this.demand('}');
			return false;
		}
	}

	private name(): string {
		const text = this.text();
		try {
			const name = parse(text);
			if (typeof name === 'string') return name;
		} catch {
			// Said below.
		}
		throw broken('a name in it is no text');
	}

	private close(): null {
		this.state = 'done';
		if (this.inObject) {
			if (!this.pass(',')) this.demand('}');
			// Some readers would take the first list and some the last.
			else if (this.members()) throw broken('it has two lists of records');
		}
		this.ensureEnd();
		return null;
	}

	private ensureEnd(): void {
		if (this.peek() !== '') throw broken('something follows its end');
	}

	/** The next character that is no white space, left where it is; empty at the end. */
	private peek(): string {
		for (; this.at < this.end; this.at++) {
			const byte = this.bytes[this.at] ?? 0;
			if (byte !== 32 && byte !== 9 && byte !== 13 && byte !== 10) return String.fromCharCode(byte);
		}
		if (!this.isWhole) throw MORE;
		return '';
	}

	private pass(mark: string): boolean {
		if (this.peek() !== mark) return false;
		this.at++;
		return true;
	}

	private demand(mark: string): void {
		if (!this.pass(mark)) throw broken(`there is no \`${mark}\` where one belongs`);
	}

	private take(start: number, end: number): RecordBytes {
		return { bytes: this.bytes.subarray(start, end), offset: this.base + start };
	}

	private text(): string {
		return this.decode(...this.value());
	}

	/** Where the next value begins and ends. Whether it is JSON shows when it is parsed. */
	private value(): [start: number, end: number] {
		this.peek();
		const start = this.at;
		this.at = this.valueEnd(start);
		if (this.at === start) throw broken('it ends in the middle');
		return [start, this.at];
	}

	/** Where a value ends: at the bracket or quote that closes it, or before what follows a number or a word. */
	private valueEnd(start: number): number {
		const { bytes, end } = this;
		let depth = 0;
		for (let at = start; at < end; at++) {
			const byte = bytes[at];
			if (byte === 0x22) {
				at = this.stringEnd(at + 1);
				if (depth === 0) return at + 1;
			} else if (depth === 0 && ENDS_WORD.has(byte ?? 0)) {
				return at;
			} else if (byte === 0x5b || byte === 0x7b) {
				depth++;
			} else if ((byte === 0x5d || byte === 0x7d) && --depth === 0) {
				return at + 1;
			}
		}
		if (!this.isWhole) throw MORE;
		if (depth > 0) throw broken('it ends in the middle');
		return end;
	}

	/** The place of the quote that ends a string. */
	private stringEnd(from: number): number {
		const { bytes, end } = this;
		for (let at = from; at < end; at++) {
			const byte = bytes[at];
			if (byte === 0x22) return at;
			if (byte === 0x5c) at++;
		}
		if (!this.isWhole) throw MORE;
		throw broken('it ends in the middle');
	}

	private decode(start: number, end: number): string {
		try {
			return this.decoder.decode(this.bytes.subarray(start, end));
		} catch {
			throw broken('it is not UTF-8');
		}
	}
}

/** `,` `]` `}` `:` and white space. */
const ENDS_WORD = new Set([0x2c, 0x5d, 0x7d, 0x3a, 0x20, 0x09, 0x0d, 0x0a]);

function broken(why: string): Unreadable {
	return new Unreadable(`The file holds no chain that can be read: ${why}.`);
}
