/**
 * JSON that keeps what sealed records depend on: integers of any size, floats apart from integers, and input order.
 * The usual reader makes doubles of all numbers, and the text that was hashed could not be made again.
 */

/** A number written without `.`, `e` or `E`; its digits. */
export class Int {
	constructor(readonly digits: string) {}

	/** The number where it fits in 64 bits with a sign. */
	small(): bigint | null {
		const number = BigInt(this.digits);
		return number >= -(2n ** 63n) && number < 2n ** 63n ? number : null;
	}
}

/** Any other number. */
export class Float {
	constructor(readonly value: number) {}
}

export type Fields = Map<string, Json>;
export type Json = null | boolean | string | Int | Float | Json[] | Fields;

const MAX_DEPTH = 1000;
const MAX_DIGITS = 4300;

const SPACE = /[ \n\r\t]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const WORDS: [string, Json][] = [
	['null', null],
	['true', true],
	['false', false],
	['NaN', new Float(NaN)],
	['Infinity', new Float(Infinity)],
	['-Infinity', new Float(-Infinity)]
];

/** Why a text is no JSON. */
export class JsonError extends Error {}

/** It may be JSON, and nobody reads so many levels. */
export class TooDeep extends JsonError {}

/** Reads a document as Python does: of a name that stands twice the last value counts, and half a pair is an error. */
export function parse(text: string): Json {
	return new Reader(text, false).document();
}

/** Reads a document in which no object has a name twice: two readers might take it for two different things. */
export function parseUnambiguous(text: string): Json {
	return new Reader(text, true).document();
}

class Reader {
	private at = 0;

	constructor(
		private readonly text: string,
		private readonly once: boolean
	) {}

	document(): Json {
		const value = this.value(0);
		this.space();
		if (this.at < this.text.length) throw this.wrong('more text after the document');
		return value;
	}

	private value(depth: number): Json {
		this.space();
		const next = this.text.charAt(this.at);
		if (next === '"') return this.string();
		if (next !== '[' && next !== '{') return this.scalar();
		if (depth >= MAX_DEPTH) throw new TooDeep(`The document is nested more than ${MAX_DEPTH} levels deep.`);
		this.at++;
		return next === '[' ? this.array(depth) : this.object(depth);
	}

	private array(depth: number): Json[] {
		const items: Json[] = [];
		if (this.closes(']')) return items;
		do items.push(this.value(depth + 1));
		while (this.more(']'));
		return items;
	}

	private object(depth: number): Fields {
		const fields: Fields = new Map();
		if (this.closes('}')) return fields;
		do {
			this.space();
			if (this.text.charAt(this.at) !== '"') throw this.wrong('expected a name in double quotes');
			const name = this.string();
			this.space();
			if (this.text.charAt(this.at) !== ':') throw this.wrong('expected `:`');
			this.at++;
			const value = this.value(depth + 1);
			if (this.once && fields.has(name))
				throw new JsonError(`The name \`${name}\` stands twice in one object.`);
			fields.set(name, value);
		} while (this.more('}'));
		return fields;
	}

	private closes(end: string): boolean {
		this.space();
		if (this.text.charAt(this.at) !== end) return false;
		this.at++;
		return true;
	}

	private more(end: string): boolean {
		this.space();
		const next = this.text.charAt(this.at);
		if (next !== ',' && next !== end) throw this.wrong(`expected \`,\` or \`${end}\``);
		this.at++;
		return next === ',';
	}

	private string(): string {
		const start = this.at++;
		for (;;) {
			const quote = this.text.indexOf('"', this.at);
			if (quote < 0) throw this.wrong('a text without an end');
			this.at = quote + 1;
			if (!this.isEscaped(quote, start)) return this.literal(start);
		}
	}

	/** Whether an odd number of backslashes stands before a quote. */
	private isEscaped(quote: number, start: number): boolean {
		let at = quote;
		while (at - 1 > start && this.text.charCodeAt(at - 1) === 92) at--;
		return (quote - at) % 2 === 1;
	}

	/** The reader of the platform makes a string of its own, which does not keep the whole document alive. */
	private literal(start: number): string {
		let text: string;
		try {
			text = JSON.parse(this.text.slice(start, this.at)) as string;
		} catch {
			throw this.wrong('an escape that JSON does not know, or a control character');
		}
		if (!isWellFormed(text)) throw this.wrong('half a surrogate pair');
		return text;
	}

	private scalar(): Json {
		for (const [word, value] of WORDS) {
			if (this.text.startsWith(word, this.at)) {
				this.at += word.length;
				return value;
			}
		}
		NUMBER.lastIndex = this.at;
		const match = NUMBER.exec(this.text);
		if (!match) throw this.wrong(this.at < this.text.length ? 'expected a value' : 'the text ends too early');
		this.at = NUMBER.lastIndex;
		// What the pattern leaves over, such as the rest of `01` or `1.`, can follow no value.
		const [digits, fraction, exponent] = match;
		if (fraction !== undefined || exponent !== undefined) return new Float(Number(digits));
		if (digits.length - (digits.startsWith('-') ? 1 : 0) > MAX_DIGITS) {
			throw this.wrong(`an integer of more than ${MAX_DIGITS} digits`);
		}
		return new Int(digits === '-0' ? '0' : digits);
	}

	private space(): void {
		SPACE.lastIndex = this.at;
		SPACE.test(this.text);
		this.at = SPACE.lastIndex;
	}

	private wrong(what: string): JsonError {
		return new JsonError(`Not JSON: ${what} at character ${this.at}.`);
	}
}

const HALF_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether every surrogate has its other half. */
export function isWellFormed(text: string): boolean {
	return !HALF_PAIR.test(text);
}

/** What a chain of member names leads to. */
export function at(value: Json | undefined, ...names: string[]): Json | undefined {
	for (const name of names) value = value instanceof Map ? value.get(name) : undefined;
	return value;
}

/** The text that a chain of member names leads to, if it is one. */
export function textAt(value: Json | undefined, ...names: string[]): string | null {
	const match = at(value, ...names);
	return typeof match === 'string' ? match : null;
}

/** The same for a count: an integer of 64 bits that is not negative. */
export function countAt(value: Json | undefined, ...names: string[]): number | null {
	const match = at(value, ...names);
	const number = match instanceof Int ? match.small() : null;
	return number !== null && number >= 0n ? Number(number) : null;
}
