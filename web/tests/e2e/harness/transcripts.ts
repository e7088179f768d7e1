import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ScratchFolder } from './program';

/** One short session of each of the four agents, in the shape that each writes. */
export const SESSIONS = {
	'claude-code': '5f0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f01',
	codex: '019e0000-7a52-7c1d-9d3e-2b7a1c4e8f02',
	cursor: '7c0c1b9e-7a52-4c1d-9d3e-2b7a1c4e8f03',
	cline: '1780308000000'
} as const;

export async function sealFourAgents(scratch: ScratchFolder): Promise<void> {
	const [claude, codex, cursor, cline] = [
		scratch.at('claude.jsonl'),
		scratch.at('codex.jsonl'),
		scratch.at('cursor.jsonl'),
		scratch.at('cline')
	];
	await write(claude, lines(claudeCode(SESSIONS['claude-code'])));
	await write(codex, lines(codexRollout(SESSIONS.codex)));
	await write(cursor, lines(cursorMessages()));
	await write(`${cline}/ui_messages.json`, JSON.stringify(clineMessages()));
	await write(`${cline}/api_conversation_history.json`, JSON.stringify(clineHistory()));
	for (const [tool, path] of Object.entries({ 'claude-code': claude, codex, cursor, cline })) {
		const session = SESSIONS[tool as keyof typeof SESSIONS];
		const words = ['--tool', tool, '--transcript', path, '--session', session];
		await scratch.run(['trail', 'seal', ...words, '--finalize']);
	}
}

async function write(path: string, text: string): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
}

const lines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

function claudeCode(session: string): unknown[] {
	let step = 0;
	const line = (type: string, message: unknown, more: object = {}) => ({
		type,
		uuid: `00000000-0000-4000-8000-${String(++step).padStart(12, '0')}`,
		parentUuid: null,
		isSidechain: false,
		userType: 'external',
		cwd: '/home/ada/shop',
		sessionId: session,
		version: '2.1.40',
		gitBranch: 'main',
		timestamp: `2026-06-01T10:00:${String(step).padStart(2, '0')}.000Z`,
		message,
		...more
	});
	const did = (content: unknown) => ({
		id: `msg_${step}`,
		model: 'claude-opus-4-8',
		role: 'assistant',
		content,
		stop_reason: 'tool_use',
		usage: { input_tokens: 120, output_tokens: 40, cache_read_input_tokens: 100 }
	});
	const userMessage = (content: unknown) => ({ role: 'user', content });
	const result = (id: string, content: string) => [
		{ type: 'tool_result', tool_use_id: id, content, is_error: false }
	];
	const edit = { file_path: '/home/ada/shop/pear.py', old_string: 'a', new_string: 'b' };
	const patch = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 2, lines: ['-a', '+b', '+c'] }];
	return [
		line('user', userMessage('Count the pears and test it')),
		line('assistant', did([{ type: 'tool_use', id: 'run', name: 'Bash', input: { command: 'make test' } }])),
		line('user', userMessage(result('run', 'ok')), {
			toolUseResult: { stdout: 'ok\n', stderr: 'slow\n', interrupted: false }
		}),
		line('assistant', did([{ type: 'tool_use', id: 'edit', name: 'Edit', input: edit }])),
		line('user', userMessage(result('edit', 'edited')), {
			toolUseResult: { filePath: edit.file_path, structuredPatch: patch }
		}),
		line('assistant', did([{ type: 'text', text: 'There are three pears.' }]))
	];
}

function codexRollout(session: string): unknown[] {
	let step = 0;
	const line = (type: string, payload: object) => ({
		timestamp: `2026-06-02T09:00:${String(++step).padStart(2, '0')}.000Z`,
		type,
		payload
	});
	const text = (role: string, type: string, words: string) => ({
		type: 'message',
		role,
		content: [{ type, text: words }]
	});
	return [
		line('session_meta', {
			id: session,
			timestamp: '2026-06-02T09:00:00.000Z',
			cwd: '/home/ada/shop',
			originator: 'codex_cli',
			cli_version: '0.60.0'
		}),
		line('turn_context', { cwd: '/home/ada/shop', model: 'gpt-5-codex', approval_policy: 'on-request' }),
		line('response_item', text('user', 'input_text', 'List the plums')),
		line('event_msg', { type: 'user_message', message: 'List the plums' }),
		line('response_item', {
			type: 'function_call',
			name: 'shell',
			arguments: JSON.stringify({ command: ['bash', '-lc', 'ls plums'] }),
			call_id: 'call_1'
		}),
		line('response_item', {
			type: 'function_call_output',
			call_id: 'call_1',
			output: JSON.stringify({ output: 'blue\nred\n', metadata: { exit_code: 0, duration_seconds: 0.1 } })
		}),
		line('response_item', text('assistant', 'output_text', 'There are two plums.'))
	];
}

function cursorMessages(): unknown[] {
	const text = (words: string) => ({ type: 'text', text: words });
	return [
		{ role: 'user', message: { content: [text('<user_query>Ripen the figs</user_query>')] } },
		{
			role: 'assistant',
			message: {
				content: [text('Looking.'), { type: 'tool_use', name: 'Read', input: { path: 'figs.ts' } }]
			}
		},
		{ role: 'assistant', message: { content: 'The figs are ripe.' } }
	];
}

function clineMessages(): unknown[] {
	const say = (ts: number, kind: string, text: string) => ({ ts, type: 'say', say: kind, text });
	return [
		say(1780308000000, 'task', 'Sort the grapes'),
		say(1780308001000, 'text', 'I sort them by size.'),
		say(1780308002000, 'command', 'sort grapes.txt'),
		say(1780308003000, 'command_output', 'small\nbig'),
		say(1780308004000, 'completion_result', 'The grapes are sorted.')
	];
}

function clineHistory(): unknown[] {
	const call = { type: 'tool_use', id: 'c1', name: 'execute_command', input: { command: 'sort grapes.txt' } };
	const gave = { type: 'tool_result', tool_use_id: 'c1', content: 'small\nbig' };
	return [
		{ role: 'user', content: [{ type: 'text', text: '<task>Sort the grapes</task>' }] },
		{ role: 'assistant', content: [{ type: 'text', text: 'I sort them by size.' }, call] },
		{ role: 'user', content: [gave] }
	];
}
