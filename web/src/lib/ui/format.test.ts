import { expect, test } from 'vitest';
import { ago, short, shortId } from './format';

test('times are told from now', () => {
	const now = Date.parse('2030-01-02T00:00:00Z');
	expect(ago('2030-01-01T23:59:40Z', now)).toBe('just now');
	expect(ago('2030-01-01T22:00:00Z', now)).toBe('2 hours ago');
	expect(ago('2030-01-01T00:00:00Z', now)).toBe('yesterday');
	expect(ago('nonsense', now)).toBe('at an unknown time');
});

test('numbers and ids are short', () => {
	expect([short(999), short(1000), short(1250), short(3_400_000)]).toEqual(['999', '1k', '1.3k', '3.4M']);
	expect(shortId('sha256:' + 'ab'.repeat(32))).toBe('abababababab…');
});
