import { parse, Float, Int, TooDeep, type Json } from '$lib/seal/json';
import { isFault, type RecordFault, type Signed } from '$lib/seal/record';
import type { Stored } from '$lib/seal/stored';
import type { RecordMarks, TimelineRow } from './types';

/** A record in memory: the stored text, what a timeline shows of it, and what is known of it so far. */
export interface ChainEntry {
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
const MAX_TEXT_LEN = 300;

/** Makes entries of one chain. Texts that come again and again are kept once. */
export class EntryBuilder {
	private readonly interned = new Map<string, string>();
	private time = 0;

	build(stored: Stored): ChainEntry {
		const content = parseOrNull(stored.canonical);
		const tools = toList(getMember(content, 'execution', 'tool_calls')).map((call) =>
			toText(getMember(call, 'tool'))
		);
		const environment = getMember(content, 'context', 'environment');
		const type = this.intern(toText(getMember(content, 'type')) || 'unknown');
		const summary = toText(getMember(content, 'outcome', 'summary')).slice(0, MAX_TEXT_LEN);
		const request = this.intern(toText(getMember(content, 'trigger', 'request')).slice(0, MAX_TEXT_LEN));
		const at =
			toText(getMember(environment, 'timestamp')) ||
			toText(getMember(content, 'trigger', 'timestamp')) ||
			stored.seal.signedAt;
		const sequence = getMember(content, 'sequence');
		stored.seal.signedBy = this.intern(stored.seal.signedBy);
		return {
			stored,
			sequence: typeof sequence === 'number' ? sequence : null,
			type,
			tool: this.intern(tools[0] ?? ''),
			summary,
			request,
			at,
			time: (this.time = parseTime(at) ?? this.time),
			hasReasoned:
				toNumber(getMember(environment, 'thinking_blocks')) > 0 ||
				toText(getMember(content, 'reasoning', 'reasoning')) !== '',
			isAutonomous: getMember(content, 'authority', 'type') === 'autonomous',
			inputTokens: toNumber(getMember(content, 'execution', 'resources_used', 'input_tokens')),
			outputTokens: toNumber(getMember(content, 'execution', 'resources_used', 'output_tokens')),
			words: [type, summary, ...tools].join('\n').toLowerCase(),
			requestWords: this.intern(request.toLowerCase()),
			content: undefined,
			isInPlace: false,
			isLinked: false,
			signed: null
		};
	}

	private intern(value: string): string {
		const known = this.interned.get(value);
		if (known === undefined) this.interned.set(value, value);
		return known ?? value;
	}
}

export function toTimelineRow(chain: string, position: number, entry: ChainEntry): TimelineRow {
	const { sequence, type, tool, summary, request, at, hasReasoned, isAutonomous } = entry;
	const { hash } = entry.stored.seal;
	const marks = toMarks(entry);
	return {
		chain,
		position,
		sequence,
		type,
		tool,
		summary,
		request,
		at,
		hasReasoned,
		isAutonomous,
		hash,
		marks
	};
}

function toMarks(entry: ChainEntry): RecordMarks {
	const { content, signed } = entry;
	const isChecked = content !== undefined;
	const isHashWrong = isChecked && content !== null && content.what !== 'content is not a record';
	return {
		hash: isChecked ? !isHashWrong : null,
		link: isChecked ? entry.isInPlace && entry.isLinked : null,
		signature: signed && !isFault(signed),
		signer: signed && toSignerTrust(signed)
	};
}

function toSignerTrust(signed: Signed | RecordFault): RecordMarks['signer'] {
	if (!isFault(signed)) return signed.by.origin;
	return signed.code === 'unknown_signer' ? 'unknown' : null;
}

/** The content as plain data; null where it is no JSON object. The platform's reader is quick and nearly always right. */
function parseOrNull(canonical: string): unknown {
	try {
		return JSON.parse(canonical);
	} catch {
		return parseSections(canonical);
	}
}

/** The content as plain data. Integers that a double cannot hold are given as their digits. */
export function parseSections(canonical: string): Record<string, unknown> | null {
	try {
		const content = parse(canonical);
		return content instanceof Map ? (toPlainData(content) as Record<string, unknown>) : null;
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

function toPlainData(value: Json): unknown {
	if (value instanceof Int)
		return Number.isSafeInteger(Number(value.digits)) ? Number(value.digits) : value.digits;
	if (value instanceof Float) return Number.isFinite(value.value) ? value.value : String(value.value);
	if (Array.isArray(value)) return value.map(toPlainData);
	if (value instanceof Map)
		return Object.fromEntries([...value].map(([name, item]) => [name, toPlainData(item)]));
	return value;
}

function getMember(value: unknown, ...names: string[]): unknown {
	for (const name of names) {
		const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
		value = isObject ? (value as Record<string, unknown>)[name] : undefined;
	}
	return value;
}

function toList(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

function toText(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

function toNumber(value: unknown): number {
	return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}

function parseTime(at: string | null): number | null {
	const time = at === null ? NaN : Date.parse(at);
	return Number.isNaN(time) ? null : time;
}
