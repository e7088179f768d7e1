import { expect, test } from 'vitest';
import { decodeOrNull } from './address';

test('a part of an address is decoded, unless it is malformed', () => {
	expect(decodeOrNull('a%20b')).toBe('a b');
	for (const malformed of ['%ff', '%E0%A4%A', '100%']) expect(decodeOrNull(malformed)).toBeNull();
});
