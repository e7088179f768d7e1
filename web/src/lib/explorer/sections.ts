import { isObject } from '$lib/api/problem';
import { clip } from '$lib/ui/format';

/** How a value of a record is shown. Nothing here is markup: every text is shown as text. */
export type Block =
	| { kind: 'fact'; label: string; text: string }
	| { kind: 'prose'; label: string; text: string }
	| { kind: 'code'; label: string; text: string }
	| { kind: 'diff'; label: string; text: string }
	| { kind: 'list'; label: string; items: string[] }
	| { kind: 'note'; label: string; text: string };

export interface Call {
	tool: string;
	success: boolean | null;
	durationMs: number | null;
	blocks: Block[];
}

export interface Section {
	name: (typeof NAMES)[number];
	blocks: Block[];
	calls: Call[];
	/** What matters less, folded away. */
	more: Block[];
}

export const NAMES = ['trigger', 'context', 'reasoning', 'authority', 'execution', 'outcome'] as const;

/** Names are cut where they are no longer names. */
const LONGEST_NAME = 200;

type Values = Record<string, unknown>;

/** The six sections of a record, ready to be shown. Empty values are left out. */
export function sectionsOf(record: Values | null): Section[] {
	const of = (name: string): Values => (isObject(record?.[name]) ? record[name] : {});
	const known: Record<Section['name'], Omit<Section, 'name'>> = {
		trigger: trigger(of('trigger')),
		context: context(of('context')),
		reasoning: reasoning(of('reasoning'), of('context')),
		authority: plain(of('authority')),
		execution: execution(of('execution')),
		outcome: outcome(of('outcome'), of('execution'))
	};
	return NAMES.map((name) => ({ name, ...known[name] }));
}

export interface Tokens {
	input: number;
	output: number;
}

export function tokensOf(record: Values | null): Tokens | null {
	const used = inside(inside(record, 'execution'), 'resources_used');
	const input = number(used['input_tokens']) ?? 0;
	const output = number(used['output_tokens']) ?? 0;
	return input || output ? { input, output } : null;
}

/** How the action was allowed, and by which model it was thought out. */
export function chipsOf(record: Values | null): { authority: string; model: string; thinkingBlocks: number } {
	const environment = inside(inside(record, 'context'), 'environment');
	return {
		authority: string(inside(record, 'authority')['type']),
		model: string(inside(record, 'reasoning')['model']),
		thinkingBlocks: number(environment['thinking_blocks']) ?? 0
	};
}

/** Whether a text is a change: a unified diff, a patch, or nothing but lines that come and go. */
export function isDiff(text: string): boolean {
	const lines = text.split('\n').filter((line) => line !== '');
	if (/^(@@ |--- |diff --git |\*\*\* Begin Patch)/m.test(text))
		return lines.some((line) => /^[+-](?![+-]{2} )/.test(line));
	return (
		lines.length > 1 && lines.every((line) => /^[+-]/.test(line)) && /^\+/m.test(text) && /^-/m.test(text)
	);
}

function trigger(values: Values): Omit<Section, 'name'> {
	const { request, ...rest } = values;
	return { blocks: [...blocksOf('request', request, 'prose'), ...plain(rest).blocks], calls: [], more: [] };
}

function plain(values: Values): Omit<Section, 'name'> {
	const blocks = Object.entries(values).flatMap(([key, value]) => blocksOf(key, value));
	return { blocks: longestLast(blocks), calls: [], more: [] };
}

function context(values: Values): Omit<Section, 'name'> {
	const { environment, ...rest } = values;
	return {
		...plain(rest),
		more: isObject(environment) ? plain(environment).blocks : blocksOf('environment', environment)
	};
}

function reasoning(values: Values, from: Values): Omit<Section, 'name'> {
	const { analysis, reasoning: thought, ...rest } = values;
	const environment = inside(from, 'environment');
	const blocks = [
		...plain(rest).blocks,
		...blocksOf('Said', analysis, 'prose'),
		...blocksOf('Thought', thought, 'prose')
	];
	if (environment['thinking_redacted'] === true)
		blocks.push({
			kind: 'note',
			label: 'Thought',
			text: 'The model reasoned here, and its provider keeps the text to itself.'
		});
	return { blocks, calls: [], more: [] };
}

function execution(values: Values): Omit<Section, 'name'> {
	const { tool_calls: calls, resources_used: used, duration_ms: duration, ...rest } = values;
	const blocks = plain(rest).blocks;
	if (number(duration)) blocks.unshift({ kind: 'fact', label: 'duration', text: `${number(duration)} ms` });
	return {
		blocks,
		calls: (Array.isArray(calls) ? calls : []).filter(isObject).map(callOf),
		more: isObject(used) ? plain(used).blocks : blocksOf('resources_used', used)
	};
}

function callOf(call: Values): Call {
	const { tool, arguments: given, result, success, duration_ms: duration, error, ...rest } = call;
	const asked = argumentsOf(given);
	const answered = resultOf(result, 'Output');
	return {
		tool: clip(string(tool), LONGEST_NAME) || 'unnamed tool',
		success: typeof success === 'boolean' ? success : null,
		durationMs: number(duration),
		blocks: [
			// A patch and what it did are often the same lines: once is enough.
			...(answered.some(({ kind }) => kind === 'diff') ? asked.filter(({ kind }) => kind !== 'diff') : asked),
			...answered,
			...blocksOf('error', error),
			...plain(rest).blocks
		]
	};
}

function argumentsOf(given: unknown): Block[] {
	if (!isObject(given)) return blocksOf('Arguments', given);
	const { command, old_string: before, new_string: after, ...rest } = given;
	const line = commandOf(command);
	return [
		...(line ? [{ kind: 'code', label: 'Command', text: line } as const] : blocksOf('command', command)),
		...(typeof before === 'string' && typeof after === 'string'
			? [{ kind: 'diff', label: 'Change', text: replaced(before, after) } as const]
			: [...blocksOf('old_string', before), ...blocksOf('new_string', after)]),
		...plain(rest).blocks
	];
}

/** A command as one types it. What a shell was given as its script is the command. */
function commandOf(command: unknown): string {
	if (typeof command === 'string') return command;
	if (!Array.isArray(command) || !command.every((part) => typeof part === 'string')) return '';
	const [shell, flag, script] = command as string[];
	if (command.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(shell!) && /^-l?c$/.test(flag!)) return script!;
	return command
		.map((part: string) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`))
		.join(' ');
}

function replaced(before: string, after: string): string {
	const lines = (text: string, mark: string) =>
		text === '' ? [] : text.split('\n').map((line) => mark + line);
	return [...lines(before, '-'), ...lines(after, '+')].join('\n');
}

function resultOf(result: unknown, label: string): Block[] {
	if (typeof result === 'string') return result === '' ? [] : [written(label, result)];
	if (!isObject(result)) return blocksOf(label, result);
	const text = ['output', 'stdout', 'contents', 'content', 'text'].find(
		(key) => typeof result[key] === 'string'
	);
	if (text === undefined) return blocksOf(label, result);
	const { [text]: said, ...rest } = result;
	return [...plain(rest).blocks, ...(said === '' ? [] : [written(label, said as string)])];
}

function outcome(values: Values, from: Values): Omit<Section, 'name'> {
	const { summary, status, result, error, side_effects: effects, ...rest } = values;
	const calls = Array.isArray(from['tool_calls']) ? from['tool_calls'].filter(isObject) : [];
	const isTold = (value: unknown) => calls.some((call) => same(call['result'], value)) || value === summary;
	return {
		blocks: [
			...blocksOf('status', status),
			...blocksOf('summary', summary, 'prose'),
			...(isTold(error) ? [] : resultOf(error, 'Error')),
			...(isTold(result) ? [] : typeof result === 'string' ? blocksOf('Answer', result, 'prose') : []),
			...blocksOf('side effects', effects)
		],
		calls: [],
		more: [
			...(isTold(result) || typeof result === 'string' ? [] : blocksOf('result', result)),
			...plain(rest).blocks
		]
	};
}

function blocksOf(label: string, value: unknown, wish?: 'prose'): Block[] {
	if (value === null || value === undefined || value === '') return [];
	if (Array.isArray(value) && value.length === 0) return [];
	if (isObject(value) && Object.keys(value).length === 0) return [];
	const named = clip(label, LONGEST_NAME).replaceAll('_', ' ');
	if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
		return [{ kind: 'list', label: named, items: value as string[] }];
	if (typeof value === 'object')
		return [{ kind: 'code', label: named, text: JSON.stringify(value, null, 2) }];
	const text = String(value);
	if (wish) return [{ kind: wish, label: named, text }];
	return [
		text.includes('\n') || text.length > 160 ? written(named, text) : { kind: 'fact', label: named, text }
	];
}

function written(label: string, text: string): Block {
	return { kind: isDiff(text) ? 'diff' : 'code', label, text };
}

function longestLast(blocks: Block[]): Block[] {
	return [...blocks.filter(({ kind }) => kind === 'fact'), ...blocks.filter(({ kind }) => kind !== 'fact')];
}

function same(one: unknown, other: unknown): boolean {
	return other !== undefined && other !== null && JSON.stringify(one) === JSON.stringify(other);
}

function inside(values: Values | null, key: string): Values {
	const value = values?.[key];
	return isObject(value) ? value : {};
}

function string(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

function number(value: unknown): number | null {
	return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
