import { canonical, canonicalAscii } from './canonical';
import { Float, Int, parse, textAt, isWellFormed, type Json } from './json';

/** What the sealed text says about its own place. */
export interface Head {
	id: string;
	sequence: number;
	previousHash: string | null;
}

const MAX_SEQUENCE = 2n ** 64n;

/** Reads the three fields that make a chain; null where the text is no record. Any depth is allowed. */
export function skim(text: string): Head | null {
	const fields = new Skimmer(text).top();
	return (fields && strict(fields)) ?? skimPython(text);
}

function strict(fields: Map<string, string>): Head | null {
	const [id, sequence, previous] = [fields.get('id'), fields.get('sequence'), fields.get('previous_hash')];
	if (id === undefined || sequence === undefined || previous === undefined) return null;
	const name = literal(id);
	const previousHash = previous === 'null' ? null : literal(previous);
	if (name === null || (previousHash === null && previous !== 'null')) return null;
	if (!/^[0-9]+$/.test(sequence) || (sequence.length > 15 && BigInt(sequence) >= MAX_SEQUENCE)) return null;
	return { id: name, sequence: Number(sequence), previousHash };
}

/** The text of a string's literal; null for anything else, and for half a surrogate pair. */
function literal(raw: string): string | null {
	if (!raw.startsWith('"')) return null;
	const text = JSON.parse(raw) as string;
	return isWellFormed(text) ? text : null;
}

/**
 * Python also seals `NaN` and the infinities, which JSON does not have. Only text that is exactly what its encoder
 * writes is taken, so no field can hide behind another of its name.
 */
function skimPython(text: string): Head | null {
	let value: Json;
	try {
		value = parse(text);
	} catch {
		return null;
	}
	if (isSealable(value) || (canonical(value) !== text && canonicalAscii(value) !== text)) return null;
	if (!(value instanceof Map)) return null;
	const [id, sequence, previous] = [textAt(value, 'id'), value.get('sequence'), value.get('previous_hash')];
	if (id === null || !(sequence instanceof Int) || (previous !== null && typeof previous !== 'string'))
		return null;
	const number = sequence.small();
	if (number === null || number < 0n) return null;
	return { id, sequence: Number(number), previousHash: previous };
}

function isSealable(value: Json): boolean {
	if (value instanceof Float) return Number.isFinite(value.value);
	if (Array.isArray(value)) return value.every(isSealable);
	return !(value instanceof Map) || [...value.values()].every(isSealable);
}

const PLAIN = /"[^"\\\u0000-\u001f]*"/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const SPACE = /[ \n\r\t]+/y;

const WANTED = new Set(['id', 'sequence', 'previous_hash']);

/** Goes over a text once, checks that it is JSON, and keeps the raw text of the wanted members of the outer object. */
class Skimmer {
	private at = 0;

	constructor(private readonly text: string) {}

	/** The raw values; null where the text is no JSON object or has one of them twice. */
	top(): Map<string, string> | null {
		this.space();
		if (!this.eat('{')) return null;
		const fields = new Map<string, string>();
		this.space();
		if (!this.eat('}') && !this.members(fields)) return null;
		this.space();
		return this.at === this.text.length ? fields : null;
	}

	private members(fields: Map<string, string>): boolean {
		do {
			this.space();
			const raw = this.string();
			const name = raw === null ? null : literal(raw);
			if (name === null) return false;
			this.space();
			if (!this.eat(':')) return false;
			this.space();
			const start = this.at;
			if (!this.value()) return false;
			if (!WANTED.has(name)) continue;
			if (fields.has(name)) return false;
			fields.set(name, this.text.slice(start, this.at));
		} while (this.comma());
		return this.eat('}');
	}

	private comma(): boolean {
		this.space();
		return this.eat(',');
	}

	/** Passes one value. What is open is kept in a list, so that no depth costs the stack. */
	private value(): boolean {
		const open: ('}' | ']')[] = [];
		for (;;) {
			this.space();
			if (this.eat('{')) {
				this.space();
				if (!this.eat('}')) {
					open.push('}');
					if (!this.name()) return false;
					continue;
				}
			} else if (this.eat('[')) {
				this.space();
				if (!this.eat(']')) {
					open.push(']');
					continue;
				}
			} else if (this.text.charCodeAt(this.at) === 34 ? this.string() === null : !this.match(SCALAR)) {
				return false;
			}
			for (;;) {
				const end = open.at(-1);
				if (end === undefined) return true;
				if (this.comma()) {
					if (end === '}' && !this.name()) return false;
					break;
				}
				if (!this.eat(end)) return false;
				open.pop();
			}
		}
	}

	private name(): boolean {
		this.space();
		if (this.string() === null) return false;
		this.space();
		return this.eat(':');
	}

	private string(): string | null {
		const start = this.at;
		return this.match(PLAIN) || this.longString() ? this.text.slice(start, this.at) : null;
	}

	/** A pattern that repeats may run out of stack on a very long text, so escapes are passed one by one. */
	private longString(): boolean {
		if (!this.eat('"')) return false;
		for (;;) {
			this.match(RUN);
			if (this.eat('"')) return true;
			if (!this.match(ESCAPE)) return false;
		}
	}

	private match(pattern: RegExp): boolean {
		pattern.lastIndex = this.at;
		if (!pattern.test(this.text)) return false;
		this.at = pattern.lastIndex;
		return true;
	}

	private eat(mark: string): boolean {
		if (this.text.charAt(this.at) !== mark) return false;
		this.at++;
		return true;
	}

	private space(): void {
		const code = this.text.charCodeAt(this.at);
		if (code === 32 || code === 10 || code === 13 || code === 9) this.match(SPACE);
	}
}

const RUN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
