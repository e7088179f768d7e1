/** What is wrong with a bundle as a whole reaches the page, also where every chain in it is good. */
import { expect, test } from 'vitest';
import { createTestEngine } from '../../../tests/helpers/testEngine';

const faults = async (index: unknown) => {
	const text = typeof index === 'string' ? index : JSON.stringify(index);
	const bundle = await createTestEngine().open({ kind: 'page', files: { 'index.json': text } }, []);
	return bundle.faults.map(({ code }) => code);
};

test('a bundle without contradictions has no faults', async () => {
	expect(await faults({ chain_count: 1, capsule_count: 2, chains: [{ id: 'a', length: 2 }] })).toEqual([]);
});

test('counts that are not those of the list are faults', async () => {
	expect(await faults({ chain_count: 7, capsule_count: 9, chains: [{ id: 'a', length: 2 }] })).toEqual([
		'contradiction',
		'contradiction'
	]);
	expect(await faults({ chain_count: 1, chains: [] })).toEqual(['contradiction']);
	expect(await faults({ capsule_count: 1, chains: [{ id: 'a', length: 2 }, { length: -1 }] })).toEqual([]);
});

test('a chain that is listed twice, or bears the name of the meta-chain, is a fault', async () => {
	expect(await faults({ chains: [{ id: 'a' }, { id: 'b' }, { id: 'a', length: 9 }] })).toEqual([
		'listed_twice'
	]);
	expect(await faults({ chains: [{ id: 'meta' }] })).toEqual(['listed_twice']);
});

test('a key under a false name is a fault', async () => {
	expect(await faults({ keys: { name: 'ab'.repeat(32) }, chains: [] })).toEqual(['key_refused']);
});

test('one byte order mark may stand before an index, two may not', async () => {
	expect(await faults('\ufeff{"chains":[]}')).toEqual([]);
	await expect(faults('\ufeff\ufeff{"chains":[]}')).rejects.toThrow('index.json');
});
