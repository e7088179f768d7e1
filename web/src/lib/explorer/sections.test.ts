import { describe, expect, test } from 'vitest';
import { getChips, isDiff, SECTION_NAMES, buildSections, getTokens, type RecordSection } from './sections';

const section = (record: Record<string, unknown>, name: RecordSection['name']) =>
	buildSections(record).find((one) => one.name === name)!;
const call = (values: Record<string, unknown>) =>
	section({ execution: { tool_calls: [values] } }, 'execution').calls[0]!;

describe('sections', () => {
	test('are always six', () => {
		expect(buildSections(null).map(({ name }) => name)).toEqual([...SECTION_NAMES]);
		expect(buildSections({ trigger: 'no object' })[0]!.blocks).toEqual([]);
	});

	test('leave out empty values', () => {
		const { blocks } = section(
			{ trigger: { request: '', source: 's', more: {}, list: [], none: null } },
			'trigger'
		);
		expect(blocks).toEqual([{ kind: 'fact', label: 'source', text: 's' }]);
	});

	test('keep false and zero', () => {
		const { more } = section({ context: { environment: { images: 0, is_sidechain: false } } }, 'context');
		expect(more.map((block) => 'text' in block && block.text)).toEqual(['0', 'false']);
	});

	test('say that a model reasoned where the text is withheld', () => {
		const { blocks } = section(
			{ reasoning: { analysis: 'a' }, context: { environment: { thinking_redacted: true } } },
			'reasoning'
		);
		expect(blocks.map(({ kind, label }) => [kind, label])).toEqual([
			['prose', 'Said'],
			['note', 'Thought']
		]);
	});
});

describe('a call', () => {
	test('shows the script of a shell as its command', () => {
		const { blocks } = call({
			tool: 'shell',
			arguments: { command: ['bash', '-lc', 'cargo test'] },
			result: 'ok'
		});
		expect(blocks).toEqual([
			{ kind: 'code', label: 'Command', text: 'cargo test' },
			{ kind: 'code', label: 'Output', text: 'ok' }
		]);
	});

	test('quotes the words of another command', () => {
		const { blocks } = call({ arguments: { command: ['git', 'commit', '-m', "it's done"] } });
		expect(blocks[0]).toEqual({ kind: 'code', label: 'Command', text: `git commit -m 'it'\\''s done'` });
	});

	test('shows a replacement as a change, unless the answer is the change', () => {
		const args = { file_path: 'a', old_string: 'x\ny', new_string: 'z' };
		expect(call({ arguments: args, result: 'done' }).blocks).toContainEqual({
			kind: 'diff',
			label: 'Change',
			text: '-x\n-y\n+z'
		});
		expect(call({ arguments: args, result: '@@ -1 +1 @@\n-x\n+z' }).blocks.map(({ label }) => label)).toEqual(
			['file path', 'Output']
		);
	});

	test('finds the output in an object', () => {
		expect(call({ result: { exitCode: 1, output: '1 failing' } }).blocks).toEqual([
			{ kind: 'fact', label: 'exitCode', text: '1' },
			{ kind: 'code', label: 'Output', text: '1 failing' }
		]);
	});

	test('without a name is still shown', () => {
		expect(call({})).toEqual({ tool: 'unnamed tool', success: null, durationMs: null, blocks: [] });
	});
});

test('long names are truncated', () => {
	const { tool, blocks } = call({ tool: 't'.repeat(9999), ['k'.repeat(9999)]: 1 });
	expect(tool).toHaveLength(201);
	expect(blocks[0]!.label).toHaveLength(201);
});

test('an outcome does not repeat the output', () => {
	const record = {
		execution: { tool_calls: [{ result: 'failed' }] },
		outcome: { status: 'failure', error: 'failed', side_effects: ['edited a'] }
	};
	expect(section(record, 'outcome').blocks.map(({ label }) => label)).toEqual(['status', 'side effects']);
});

test('diffs are distinguished from other text', () => {
	expect(isDiff('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b')).toBe(true);
	expect(isDiff('*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch')).toBe(true);
	expect(isDiff('-a\n+b')).toBe(true);
	for (const text of ['- one\n- two', 'a\n+b', '', '--- \ntitle', '+1']) expect(isDiff(text)).toBe(false);
});

test('tokens and chips come from the record', () => {
	const record = {
		execution: { resources_used: { input_tokens: 10, output_tokens: 5 } },
		authority: { type: 'autonomous' },
		reasoning: { model: 'm' },
		context: { environment: { thinking_blocks: 2 } }
	};
	expect(getTokens(record)).toEqual({ input: 10, output: 5 });
	expect(getTokens({})).toBeNull();
	expect(
		getTokens({ execution: { resources_used: { input_tokens: -1, output_tokens: Infinity } } })
	).toBeNull();
	expect(getChips(record)).toEqual({ authority: 'autonomous', model: 'm', thinkingBlocks: 2 });
});
