/** Correctness on a long chain. `CAPSID_SPEED=100000` makes it longer and prints how long each step took. */
import { expect, it, vi } from 'vitest';
import type { Progress } from './types';
import { createTestEngine } from '../../../tests/helpers/testEngine';
import { FAILED, generatedBundle, PENDING } from '../../../tests/helpers/generatedBundle';

const length = Number(process.env['CAPSID_SPEED'] ?? 1500);
const prints = process.env['CAPSID_SPEED'] !== undefined;

it(
	'a long chain is loaded, searched, verified, tampered with and restored',
	{ timeout: 1_200_000 },
	async () => {
		const files = generatedBundle(length);
		const engine = createTestEngine();
		const time = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
			const [began, before] = [performance.now(), process.cpuUsage()];
			const result = await work();
			const { user, system } = process.cpuUsage(before);
			const [took, worked] = [performance.now() - began, (user + system) / 1000].map(Math.round);
			if (prints) console.log(`${what}: ${took} ms, of which the processor worked ${worked} ms`);
			return result;
		};
		const id = 'codex-big';
		await engine.open({ kind: 'page', files }, []);
		const stats = await time('load', () => engine.load(id));
		expect(stats).toMatchObject({ records: length, tools: 2, inputTokens: 10 * length });
		if (prints) console.log(`memory: ${Math.round(process.memoryUsage().heapUsed / 1e6)} MB of heap`);

		const query = { chain: id, type: null, order: 'newest', offset: 0, limit: 60 } as const;
		const every = await time('find all', () => engine.find({ ...query, text: '' }));
		expect(every.rows[0]).toMatchObject({
			position: length - 1,
			marks: { hash: true, link: true, signature: true }
		});
		expect(every.rows).toHaveLength(60);
		const one = await time('find text', () => engine.find({ ...query, text: `Step-${length - 1}` }));
		expect(one.rows.map((row) => row?.position)).toEqual([length - 1]);
		const hash = every.rows[3]?.hash ?? '';
		expect((await engine.find({ ...query, text: hash })).rows).toHaveLength(1);
		const chats = await time('find in all chains', () =>
			engine.find({ ...query, chain: null, text: '', type: 'chat' })
		);
		expect(chats).toMatchObject({ total: Math.ceil(length / 5), leftOut: 0 });
		expect(chats.types['tool']).toBe(length - chats.total);
		await time('find in all chains again', () =>
			engine.find({ ...query, chain: null, text: 'shell', type: 'chat' })
		);
		const nothing = await engine.find({ ...query, text: 'there is no such text' });
		expect(nothing).toEqual({ total: 0, rows: [], types: {}, isPartial: false });

		const done: number[] = [];
		const verdict = await time('verify', () => engine.verify(id, (progress) => done.push(progress.done)));
		expect(verdict).toMatchObject({ isIntact: true, checked: length, signaturesChecked: length });
		expect(verdict).toMatchObject({
			level: 'unverified',
			findings: [{ code: 'bundled_signer' }, { code: 'meta_absent' }]
		});
		expect(done).toEqual([...done].sort((a, b) => a - b));
		const deep = await time('find in results', () =>
			engine.find({ ...query, text: 'all GOOD so far all good', isDeep: true })
		);
		expect(deep.total).toBe(length);
		const failed = await engine.find({ ...query, text: '', isFailed: true });
		expect(failed.rows.map((row) => row?.position)).toEqual([PENDING, FAILED]);
		// Fifty records answer one prompt; the first of them shows it.
		const prompts = await engine.find({ ...query, text: '', order: 'oldest', offset: 40, limit: 20 });
		const ids = prompts.rows.map((row) => row?.requestId);
		expect([new Set(ids.slice(0, 10)).size, new Set(ids.slice(10)).size, new Set(ids).size]).toEqual([
			1, 1, 2
		]);
		expect(prompts.rows[10]?.request).toBe('please build number 1');
		const spans = await engine.use(id);
		expect(spans.reduce((sum, span) => sum + span.records, 0)).toBe(length);

		const { position, before, after } = await engine.tamper(id);
		expect(position).toBe(Math.floor(length / 2));
		expect([before.includes('Nothing happened'), after.includes('Nothing happened')]).toEqual([false, true]);
		const broken = await time('verify again, tampered', () => engine.verify(id));
		expect(broken).toMatchObject({ isIntact: false, brokenAt: position, checked: position });
		expect(broken.faults).toEqual([
			{ code: 'hash', message: `content hash mismatch at ${position}`, position }
		]);
		const detail = await engine.detail(id, position);
		expect(detail.marks).toEqual({ hash: false, link: true, signature: true, signer: 'bundled' });
		expect(detail.computedHash).not.toBe(detail.hash);
		await engine.restore(id);
		expect((await engine.verify(id)).isIntact).toBe(true);
		engine.close();
	}
);

it('5,000 records are counted while they are checked', { timeout: 60_000 }, async () => {
	const records = 5000;
	const engine = createTestEngine();
	await engine.open({ kind: 'page', files: generatedBundle(records) }, []);
	// A slow machine: a moment for a report has come whenever somebody looks at the clock.
	let now = 0;
	const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 101));
	const reports: Progress[] = [];
	const verdict = await engine.verify('codex-big', (progress) => reports.push(progress));
	clock.mockRestore();
	expect(verdict).toMatchObject({ checked: records, length: records });
	expect(reports.length).toBeGreaterThan(20);
	const grows = (numbers: number[]) => expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
	grows(reports.map(({ done }) => done));
	grows(reports.map(({ bytes }) => bytes));
	expect(new Set(reports.map(({ done }) => done)).size).toBe(reports.length);
	expect(reports.every(({ chain, total }) => chain === 'codex-big' && total === records)).toBe(true);
	expect(reports[0]?.done).toBeLessThan(records / 10);
	expect(reports.at(-1)?.done).toBeGreaterThan(records * 0.9);
	engine.close();
});

it('work stops after the engine is closed', { timeout: 60_000 }, async () => {
	const engine = createTestEngine();
	await engine.open({ kind: 'page', files: generatedBundle(300) }, []);
	await engine.load('codex-big');
	const verifying = engine.verify('codex-big');
	engine.close();
	await expect(verifying).rejects.toThrow('closed');
});
