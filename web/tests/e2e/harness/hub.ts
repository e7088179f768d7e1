import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { computeAssetId } from '$lib/assets/assetId';
import { ScratchFolder, type RunningProgram } from './program';

export type JsonAnswer = any;
type Members = Record<string, unknown>;

export const PASSWORD = 'correct horse battery staple';

/** A hub of its own, started from the built program, and how people and nodes call it. */
export class TestHub {
	private constructor(
		readonly scratch: ScratchFolder,
		private readonly running: RunningProgram
	) {}

	/** With the operator's settings, where the usual ones will not do. */
	static async start(settings = ''): Promise<TestHub> {
		const scratch = await ScratchFolder.make();
		await writeFile(scratch.at('hub.toml'), settings);
		const words = ['hub', 'serve', '--listen', '127.0.0.1:0', '--data', scratch.at('hub')];
		return new TestHub(scratch, await scratch.start([...words, '--config', scratch.at('hub.toml')]));
	}

	get url(): string {
		return this.running.origin;
	}

	async stop(): Promise<void> {
		await this.running.stop();
		await this.scratch.remove();
	}

	/** A call that must work. */
	async call(method: string, path: string, body?: unknown, bearer?: string): Promise<JsonAnswer> {
		const headers: Record<string, string> = { accept: 'application/json' };
		if (body !== undefined) headers['content-type'] = 'application/json';
		if (bearer) headers['authorization'] = `Bearer ${bearer}`;
		const text = body === undefined ? null : JSON.stringify(body);
		const answer = await fetch(this.url + path, { method, headers, body: text });
		const content = await answer.text();
		// A bundle that is stored and held back is refused with 422.
		const isHeldBack = answer.status === 422 && content.includes('"stored":true');
		if (!answer.ok && !isHeldBack) throw new Error(`${method} ${path}: ${answer.status} ${content}`);
		return JSON.parse(content);
	}

	/** The operator makes an account that may decide about everything. */
	async admin(email: string): Promise<void> {
		const words = ['hub', 'admin', 'create-user', email, '--admin', '--password-stdin'];
		await this.scratch.run([...words, '--data', this.scratch.at('hub')], `${PASSWORD}\n`);
	}

	async operator(...words: string[]): Promise<void> {
		await this.scratch.run(['hub', 'admin', ...words, '--data', this.scratch.at('hub')]);
	}

	/** Makes an account; gives the token of its session. */
	async register(email: string): Promise<string> {
		return (await this.call('POST', '/auth/register', { email, password: PASSWORD })).token;
	}

	async login(email: string): Promise<string> {
		return (await this.call('POST', '/auth/login', { email, password: PASSWORD })).token;
	}

	async node(name: string): Promise<TestNode> {
		const node = new TestNode(this, `node_${randomBytes(8).toString('hex')}`);
		await node.hello(name);
		return node;
	}
}

/** A node, as an agent's client would be one. */
export class TestNode {
	private secret = '';

	constructor(
		private readonly hub: TestHub,
		readonly id: string
	) {}

	/** Gives the hub's whole answer, with the address at which somebody can claim the node. */
	async hello(name: string): Promise<JsonAnswer> {
		const content = await this.message('hello', { capabilities: {}, name, model: 'demo-model-1' });
		this.secret = content.node_secret ?? this.secret;
		return content;
	}

	async message(kind: string, payload: Members): Promise<JsonAnswer> {
		const message = {
			protocol: 'gep-a2a',
			protocol_version: '1.0.0',
			message_type: kind,
			message_id: `msg_${Date.now()}_${randomBytes(4).toString('hex')}`,
			sender_id: this.id,
			timestamp: new Date().toISOString(),
			payload
		};
		return (await this.hub.call('POST', `/a2a/${kind}`, message, this.secret)).payload;
	}

	/** Publishes a gene, its capsule and the event of both; gives their ids. */
	async publish(solution: TestSolution): Promise<PublishedBundle> {
		const [gene, capsule, event] = buildBundle(solution);
		const answer = await this.message('publish', { assets: [gene, capsule, event] });
		if (answer.decision === 'reject') throw new Error(JSON.stringify(answer));
		return { gene: gene.asset_id, capsule: capsule.asset_id, event: event.asset_id };
	}

	async report(asset: string, passed: boolean): Promise<void> {
		const commands = [{ command: 'node retry.test.js', ok: passed, exit_code: passed ? 0 : 1 }];
		const report = { report_id: `report_${randomBytes(8).toString('hex')}`, overall_ok: passed, commands };
		// A report counts only if its sender had the asset.
		await this.message('fetch', { asset_ids: [asset], trial: true });
		await this.message('report', { target_asset_id: asset, validation_report: report });
	}

	fetch(asset: string): Promise<JsonAnswer> {
		return this.message('fetch', { asset_ids: [asset] });
	}

	task(action: string, task: string, more: Members = {}): Promise<JsonAnswer> {
		return this.hub.call(
			'POST',
			`/task/${action}`,
			{ task_id: task, node_id: this.id, ...more },
			this.secret
		);
	}
}

export interface PublishedBundle {
	gene: string;
	capsule: string;
	event: string;
}

export interface TestSolution {
	signal: string;
	summary: string;
	category?: string;
	validation?: string;
	content?: string;
}

type StampedAsset = Members & { asset_id: string };

function stampAsset(asset: Members): StampedAsset {
	return { ...asset, asset_id: computeAssetId(asset) };
}

export function buildBundle(solution: TestSolution): [StampedAsset, StampedAsset, StampedAsset] {
	const { signal, summary } = solution;
	const category = solution.category ?? 'repair';
	const outcome = { status: 'success', score: 0.9 };
	const blast_radius = { files: 1, lines: 4 };
	const env_fingerprint = { platform: 'linux', arch: 'x64', node_version: 'v20.0.0' };
	const gene = stampAsset({
		type: 'Gene',
		schema_version: '1.5.0',
		id: `gene_${signal.toLowerCase()}`,
		category,
		summary,
		signals_match: [signal, `${signal} again`],
		strategy: ['Find where the call is made.', 'Wrap it once, in one place.', 'Run the tests.'],
		preconditions: ['the project has tests'],
		constraints: { max_files: 5, forbidden_paths: ['.git'] },
		validation: [solution.validation ?? 'node retry.test.js']
	});
	const capsule = stampAsset({
		type: 'Capsule',
		schema_version: '1.5.0',
		id: `capsule_${signal.toLowerCase()}`,
		summary,
		trigger: [signal],
		gene: gene.asset_id,
		confidence: 0.85,
		blast_radius,
		outcome,
		success_streak: 3,
		env_fingerprint,
		content:
			solution.content ?? `${summary} The change wraps the call in one place and leaves callers as they are.`,
		diff: buildDiff(signal.toLowerCase().replace(/[^a-z]/g, ''))
	});
	const event = stampAsset({
		type: 'EvolutionEvent',
		schema_version: '1.5.0',
		id: `evt_${signal.toLowerCase()}`,
		intent: category,
		signals: [signal],
		genes_used: [gene.asset_id],
		capsule_id: capsule.asset_id,
		outcome,
		blast_radius,
		env_fingerprint
	});
	return [gene, capsule, event];
}

function buildDiff(name: string): string {
	return [
		`diff --git a/src/${name}.js b/src/${name}.js`,
		`--- a/src/${name}.js`,
		`+++ b/src/${name}.js`,
		'@@ -1,2 +1,4 @@',
		" const call = require('./call');",
		'-module.exports = (x) => call(x);',
		'+module.exports = async (x) => {',
		'+  try { return await call(x); } catch { return await call(x); }',
		'+};',
		''
	].join('\n');
}
