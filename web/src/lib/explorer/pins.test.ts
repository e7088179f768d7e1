import { expect, test } from 'vitest';
import { isPinned, parseKey, listSigners } from './pins';

const HEX = '03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8';

test('a pasted key is parsed', () => {
	expect(parseKey(` ${HEX.toUpperCase()}\n`)).toBe(HEX);
	expect(parseKey('03a1 07bf f3ce 10be')).toBe('03a107bff3ce10be');
	for (const no of ['', 'zz', HEX.slice(1), `${HEX}00`, 'g'.repeat(16)]) expect(parseKey(no)).toBeNull();
});

test('a fingerprint pins only its key', () => {
	expect(isPinned(HEX, [HEX.slice(0, 16)])).toBe(true);
	expect(isPinned(HEX, [HEX])).toBe(true);
	expect(isPinned(HEX, ['0000000000000000'])).toBe(false);
});

test('a signer that the bundle does not name is unknown', () => {
	const named = { fingerprint: HEX.slice(0, 16), hex: HEX, trust: 'bundled' } as const;
	const chain = { signers: [HEX.slice(0, 16), HEX, 'qp_key_03a1', 'ffffffffffffffff'] };
	const bundle = { keys: [named], chains: [chain] } as unknown as Parameters<typeof listSigners>[0];
	expect(listSigners(bundle)).toEqual([
		named,
		{ fingerprint: 'ffffffffffffffff', hex: '', trust: 'unknown' }
	]);
	expect(listSigners(null)).toEqual([]);
});
