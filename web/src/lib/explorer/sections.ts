import { isObject } from '$lib/api/problem';
import { clipText, formatCount } from '$lib/ui/format';

/** How a value of a record is shown. Nothing here is markup: every text is shown as text. */
export type RecordBlock =
	| { kind: 'fact'; label: string; text: string }
	| { kind: 'prose'; label: string; text: string }
	| { kind: 'code'; label: string; text: string }
	| { kind: 'diff'; label: string; text: string }
	| { kind: 'list'; label: string; items: string[] }
	| { kind: 'note'; label: string; text: string };

export interface ToolCall {
	tool: string;
	success: boolean | null;
	durationMs: number | null;
	blocks: RecordBlock[];
}

export interface RecordSection {
	name: (typeof SECTION_NAMES)[number];
	blocks: RecordBlock[];
	calls: ToolCall[];
	/** What matters less, folded away. */
	more: RecordBlock[];
}

export const SECTION_NAMES = [
	'trigger',
	'context',
	'reasoning',
	'authority',
	'execution',
	'outcome'
] as const;

/** Names are cut where they are no longer names. */
const MAX_NAME_LEN = 200;

type Values = Record<string, unknown>;

/** The six sections of a record, ready to be shown. Empty values are left out. */
export function buildSections(record: Values | null): RecordSection[] {
	const getSection = (name: string): Values => (isObject(record?.[name]) ? record[name] : {});
	const known: Record<RecordSection['name'], Omit<RecordSection, 'name'>> = {
		trigger: trigger(getSection('trigger')),
		context: context(getSection('context')),
		reasoning: reasoning(getSection('reasoning'), getSection('context')),
		authority: buildPlainSection(getSection('authority')),
		execution: execution(getSection('execution')),
		outcome: outcome(getSection('outcome'), getSection('execution'))
	};
	return SECTION_NAMES.map((name) => ({ name, ...known[name] }));
}

export interface TokenCounts {
	input: number;
	output: number;
}

export function getTokens(record: Values | null): TokenCounts | null {
	const used = getObject(getObject(record, 'execution'), 'resources_used');
	const input = toNumber(used['input_tokens']) ?? 0;
	const output = toNumber(used['output_tokens']) ?? 0;
	return input || output ? { input, output } : null;
}

/** When the action happened, as the agent claims. */
export function getActionTime(record: Values | null): string | null {
	const environment = getObject(getObject(record, 'context'), 'environment');
	const time = environment['timestamp'];
	return typeof time === 'string' && !Number.isNaN(Date.parse(time)) ? time : null;
}

/** How the action was allowed, and by which model it was thought out. */
export function getChips(record: Values | null): {
	authority: string;
	model: string;
	thinkingBlocks: number;
} {
	const environment = getObject(getObject(record, 'context'), 'environment');
	return {
		authority: toText(getObject(record, 'authority')['type']),
		model: toText(getObject(record, 'reasoning')['model']),
		thinkingBlocks: toNumber(environment['thinking_blocks']) ?? 0
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

function trigger(values: Values): Omit<RecordSection, 'name'> {
	const { request, ...rest } = values;
	return {
		blocks: [...buildBlocks('request', request, 'prose'), ...buildPlainSection(rest).blocks],
		calls: [],
		more: []
	};
}

function buildPlainSection(values: Values): Omit<RecordSection, 'name'> {
	const blocks = Object.entries(values).flatMap(([key, value]) => buildBlocks(key, value));
	return { blocks: orderFactsFirst(blocks), calls: [], more: [] };
}

function context(values: Values): Omit<RecordSection, 'name'> {
	const { environment, ...rest } = values;
	return {
		...buildPlainSection(rest),
		more: isObject(environment)
			? buildPlainSection(environment).blocks
			: buildBlocks('environment', environment)
	};
}

function reasoning(values: Values, from: Values): Omit<RecordSection, 'name'> {
	const { analysis, reasoning: thought, ...rest } = values;
	const environment = getObject(from, 'environment');
	const blocks = [
		...buildPlainSection(rest).blocks,
		...buildBlocks('Said', analysis, 'prose'),
		...buildBlocks('Thought', thought, 'prose')
	];
	if (environment['thinking_redacted'] === true)
		blocks.push({
			kind: 'note',
			label: 'Thought',
			text: 'The model reasoned here, and its provider keeps the text to itself.'
		});
	return { blocks, calls: [], more: [] };
}

function execution(values: Values): Omit<RecordSection, 'name'> {
	const { tool_calls: calls, resources_used: used, duration_ms: duration, ...rest } = values;
	const blocks = buildPlainSection(rest).blocks;
	if (toNumber(duration))
		blocks.unshift({ kind: 'fact', label: 'duration', text: `${formatCount(toNumber(duration) ?? 0)} ms` });
	return {
		blocks,
		calls: (Array.isArray(calls) ? calls : []).filter(isObject).map(toToolCall),
		more: isObject(used) ? buildPlainSection(used).blocks : buildBlocks('resources_used', used)
	};
}

function toToolCall(call: Values): ToolCall {
	const { tool, arguments: args, result, success, duration_ms: duration, error, ...rest } = call;
	const argumentBlocks = buildArgumentBlocks(args);
	const resultBlocks = buildResultBlocks(result, 'Output');
	return {
		tool: clipText(toText(tool), MAX_NAME_LEN) || 'unnamed tool',
		success: typeof success === 'boolean' ? success : null,
		durationMs: toNumber(duration),
		blocks: [
			// A patch and what it did are often the same lines: once is enough.
			...(resultBlocks.some(({ kind }) => kind === 'diff')
				? argumentBlocks.filter(({ kind }) => kind !== 'diff')
				: argumentBlocks),
			...resultBlocks,
			...buildBlocks('error', error),
			...buildPlainSection(rest).blocks
		]
	};
}

function buildArgumentBlocks(args: unknown): RecordBlock[] {
	if (!isObject(args)) return buildBlocks('Arguments', args);
	const { command, old_string: before, new_string: after, ...rest } = args;
	const line = formatCommand(command);
	return [
		...(line ? [{ kind: 'code', label: 'Command', text: line } as const] : buildBlocks('command', command)),
		...(typeof before === 'string' && typeof after === 'string'
			? [{ kind: 'diff', label: 'Change', text: formatReplacement(before, after) } as const]
			: [...buildBlocks('old_string', before), ...buildBlocks('new_string', after)]),
		...buildPlainSection(rest).blocks
	];
}

/** A command as one types it. What a shell was given as its script is the command. */
function formatCommand(command: unknown): string {
	if (typeof command === 'string') return command;
	if (!Array.isArray(command) || !command.every((part) => typeof part === 'string')) return '';
	const [shell, flag, script] = command as string[];
	if (command.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(shell!) && /^-l?c$/.test(flag!)) return script!;
	return command
		.map((part: string) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`))
		.join(' ');
}

function formatReplacement(before: string, after: string): string {
	const lines = (text: string, mark: string) =>
		text === '' ? [] : text.split('\n').map((line) => mark + line);
	return [...lines(before, '-'), ...lines(after, '+')].join('\n');
}

function buildResultBlocks(result: unknown, label: string): RecordBlock[] {
	if (typeof result === 'string') return result === '' ? [] : [buildTextBlock(label, result)];
	if (!isObject(result)) return buildBlocks(label, result);
	const text = ['output', 'stdout', 'contents', 'content', 'text'].find(
		(key) => typeof result[key] === 'string'
	);
	if (text === undefined) return buildBlocks(label, result);
	const { [text]: output, ...rest } = result;
	return [
		...buildPlainSection(rest).blocks,
		...(output === '' ? [] : [buildTextBlock(label, output as string)])
	];
}

function outcome(values: Values, from: Values): Omit<RecordSection, 'name'> {
	const { summary, status, result, error, side_effects: effects, ...rest } = values;
	const calls = Array.isArray(from['tool_calls']) ? from['tool_calls'].filter(isObject) : [];
	const isAlreadyShown = (value: unknown) =>
		calls.some((call) => isSameJson(call['result'], value)) || value === summary;
	return {
		blocks: [
			...buildBlocks('status', status),
			...buildBlocks('summary', summary, 'prose'),
			...(isAlreadyShown(error) ? [] : buildResultBlocks(error, 'Error')),
			...(isAlreadyShown(result)
				? []
				: typeof result === 'string'
					? buildBlocks('Answer', result, 'prose')
					: []),
			...buildBlocks('side effects', effects)
		],
		calls: [],
		more: [
			...(isAlreadyShown(result) || typeof result === 'string' ? [] : buildBlocks('result', result)),
			...buildPlainSection(rest).blocks
		]
	};
}

function buildBlocks(label: string, value: unknown, preferredKind?: 'prose'): RecordBlock[] {
	if (value === null || value === undefined || value === '') return [];
	if (Array.isArray(value) && value.length === 0) return [];
	if (isObject(value) && Object.keys(value).length === 0) return [];
	const named = clipText(label, MAX_NAME_LEN).replaceAll('_', ' ');
	if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
		return [{ kind: 'list', label: named, items: value as string[] }];
	if (typeof value === 'object')
		return [{ kind: 'code', label: named, text: JSON.stringify(value, null, 2) }];
	const text = String(value);
	if (preferredKind) return [{ kind: preferredKind, label: named, text }];
	return [
		text.includes('\n') || text.length > 160
			? buildTextBlock(named, text)
			: { kind: 'fact', label: named, text }
	];
}

function buildTextBlock(label: string, text: string): RecordBlock {
	return { kind: isDiff(text) ? 'diff' : 'code', label, text };
}

function orderFactsFirst(blocks: RecordBlock[]): RecordBlock[] {
	return [...blocks.filter(({ kind }) => kind === 'fact'), ...blocks.filter(({ kind }) => kind !== 'fact')];
}

function isSameJson(one: unknown, other: unknown): boolean {
	return other !== undefined && other !== null && JSON.stringify(one) === JSON.stringify(other);
}

function getObject(values: Values | null, key: string): Values {
	const value = values?.[key];
	return isObject(value) ? value : {};
}

function toText(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

function toNumber(value: unknown): number | null {
	return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
