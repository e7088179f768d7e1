import { parse, Float, Int, TooDeep, type Json } from '$lib/seal/json';
import { isFault, type RecordFault, type Signed } from '$lib/seal/record';
import type { Stored } from '$lib/seal/stored';
import type { Marks, Row } from './types';

/** A record in memory: the stored text, what a timeline shows of it, and what is known of it so far. */
export interface Entry {
	stored: Stored;
	sequence: number | null;
	type: string;
	tool: string;
	summary: string;
	request: string;
	at: string | null;
	/** The moment as a number, for the order over all chains. */
	time: number;
	hasReasoned: boolean;
	isAutonomous: boolean;
	inputTokens: number;
	outputTokens: number;
	/** What a search looks through, in lower case: the type, the summary and the tools; the request apart. */
	words: string;
	requestWords: string;
	/** What is wrong with text and hash; undefined before that was checked. */
	content: RecordFault | null | undefined;
	/** Whether the text claims this very place, and links to the record before. */
	isInPlace: boolean;
	isLinked: boolean;
	signed: Signed | RecordFault | null;
}

/** Prompts can be long and are repeated in every record that follows them. */
const SHOWN = 300;

/** Makes entries of one chain. Texts that come again and again are kept once. */
export class Entries {
	private readonly kept = new Map<string, string>();
	private time = 0;

	entry(stored: Stored): Entry {
		const content = plainOrNull(stored.canonical);
		const tools = list(get(content, 'execution', 'tool_calls')).map((call) => text(get(call, 'tool')));
		const environment = get(content, 'context', 'environment');
		const type = this.once(text(get(content, 'type')) || 'unknown');
		const summary = text(get(content, 'outcome', 'summary')).slice(0, SHOWN);
		const request = this.once(text(get(content, 'trigger', 'request')).slice(0, SHOWN));
		const at =
			text(get(environment, 'timestamp')) ||
			text(get(content, 'trigger', 'timestamp')) ||
			stored.seal.signedAt;
		const sequence = get(content, 'sequence');
		stored.seal.signedBy = this.once(stored.seal.signedBy);
		return {
			stored,
			sequence: typeof sequence === 'number' ? sequence : null,
			type,
			tool: this.once(tools[0] ?? ''),
			summary,
			request,
			at,
			time: (this.time = moment(at) ?? this.time),
			hasReasoned:
				number(get(environment, 'thinking_blocks')) > 0 ||
				text(get(content, 'reasoning', 'reasoning')) !== '',
			isAutonomous: get(content, 'authority', 'type') === 'autonomous',
			inputTokens: number(get(content, 'execution', 'resources_used', 'input_tokens')),
			outputTokens: number(get(content, 'execution', 'resources_used', 'output_tokens')),
			words: [type, summary, ...tools].join('\n').toLowerCase(),
			requestWords: this.once(request.toLowerCase()),
			content: undefined,
			isInPlace: false,
			isLinked: false,
			signed: null
		};
	}

	private once(text: string): string {
		const kept = this.kept.get(text);
		if (kept === undefined) this.kept.set(text, text);
		return kept ?? text;
	}
}

export function rowOf(chain: string, place: number, entry: Entry): Row {
	const { sequence, type, tool, summary, request, at, hasReasoned, isAutonomous } = entry;
	const { hash } = entry.stored.seal;
	const marks = marksOf(entry);
	return { chain, place, sequence, type, tool, summary, request, at, hasReasoned, isAutonomous, hash, marks };
}

function marksOf(entry: Entry): Marks {
	const { content, signed } = entry;
	const isChecked = content !== undefined;
	const isHashWrong = isChecked && content !== null && content.what !== 'content is not a record';
	return {
		hash: isChecked ? !isHashWrong : null,
		link: isChecked ? entry.isInPlace && entry.isLinked : null,
		signature: signed && !isFault(signed),
		signer: signed && signerOf(signed)
	};
}

function signerOf(signed: Signed | RecordFault): Marks['signer'] {
	if (!isFault(signed)) return signed.by.origin;
	return signed.code === 'unknown_signer' ? 'unknown' : null;
}

/** The content as plain data; null where it is no JSON object. The platform's reader is quick and nearly always right. */
function plainOrNull(canonical: string): unknown {
	try {
		return JSON.parse(canonical);
	} catch {
		return sectionsOf(canonical);
	}
}

/** The content as plain data. Integers that a double cannot hold are given as their digits. */
export function sectionsOf(canonical: string): Record<string, unknown> | null {
	try {
		const content = parse(canonical);
		return content instanceof Map ? (plain(content) as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

export function isTooDeep(canonical: string): boolean {
	try {
		parse(canonical);
		return false;
	} catch (problem) {
		return problem instanceof TooDeep;
	}
}

function plain(value: Json): unknown {
	if (value instanceof Int)
		return Number.isSafeInteger(Number(value.digits)) ? Number(value.digits) : value.digits;
	if (value instanceof Float) return Number.isFinite(value.value) ? value.value : String(value.value);
	if (Array.isArray(value)) return value.map(plain);
	if (value instanceof Map) return Object.fromEntries([...value].map(([name, item]) => [name, plain(item)]));
	return value;
}

function get(value: unknown, ...names: string[]): unknown {
	for (const name of names) {
		const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
		value = isObject ? (value as Record<string, unknown>)[name] : undefined;
	}
	return value;
}

function list(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
	return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

function moment(at: string | null): number | null {
	const time = at === null ? NaN : Date.parse(at);
	return Number.isNaN(time) ? null : time;
}
