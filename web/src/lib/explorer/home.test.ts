/** What the viewer of a home tells the page beside the records decides with them. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { generatedBundle } from '../../../tests/helpers/generatedBundle';
import { LOCAL_SOURCE, serveFiles } from '../../../tests/helpers/localViewer';
import { createTestEngine } from '../../../tests/helpers/testEngine';

const LENGTH = 6;
const ID = 'codex-big';
const NAME = 'codex/big';

afterEach(() => void vi.unstubAllGlobals());

interface HomeFacts {
	origin?: string;
	pending?: number;
	/** How many records something says there were. */
	count?: number;
	limit?: number;
}

async function evaluate({ origin = 'own', pending = 0, count = LENGTH, limit }: HomeFacts, hasTraces = true) {
	const files = generatedBundle(LENGTH);
	const { public_key: key } = JSON.parse(files['index.json'] ?? '') as { public_key: string };
	const limits = limit === undefined ? {} : { [key.slice(0, 16)]: limit };
	const expectations = [{ source: 'sealed_keys', chain: NAME, count, head: null }];
	const own = { chains: [{ name: NAME, id: ID, is_meta: false, pending, limits }], expectations };
	serveFiles({
		...files,
		'keys.json': JSON.stringify({ own: null, pinned: [], keys: [[key, origin, 0]], place: 'home' }),
		...(hasTraces ? { 'home.json': JSON.stringify({ own }) } : {})
	});
	const engine = createTestEngine();
	await engine.open(LOCAL_SOURCE, []);
	const whole = await engine.evaluate();
	const chain = await engine.verify(ID);
	engine.close();
	return { level: whole.level, codes: whole.findings.map(({ code }) => code), chain };
}

describe('the viewer of a home', () => {
	it('counts own and retired keys, as far as they go', async () => {
		expect(await evaluate({})).toMatchObject({ level: 'valid', chain: { level: 'valid' } });
		const retired = await evaluate({ origin: 'retired', limit: LENGTH });
		expect(retired).toMatchObject({ level: 'valid', chain: { signers: { retired: LENGTH, own: 0 } } });
		const late = await evaluate({ origin: 'retired', limit: 4 });
		expect(late).toMatchObject({ level: 'invalid', chain: { level: 'invalid', position: 4 } });
		expect(late.codes[0]).toBe('retired_key');
		expect((await evaluate({ origin: 'known' })).codes[0]).toBe('signer_not_allowed');
	});

	it('sees a cut end by the keys of sealed items', async () => {
		const cut = await evaluate({ count: LENGTH + 2 });
		expect(cut).toMatchObject({ level: 'incomplete', chain: { level: 'incomplete' } });
		expect(cut.codes[0]).toBe('truncated');
	});

	it('says how many records wait for a signature', async () => {
		const waiting = await evaluate({ pending: 3 });
		expect(waiting).toMatchObject({ level: 'unverified', chain: { level: 'unverified' } });
		expect(waiting.chain.reason).toContain('3 records of codex/big are not signed yet');
	});

	it('is not green where its traces cannot be read', async () => {
		expect((await evaluate({}, false)).level).toBe('unreadable');
	});
});
