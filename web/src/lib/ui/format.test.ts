import { expect, test } from 'vitest';
import { formatAgo, formatShort, shortenId } from './format';

test('times are relative to now', () => {
	const now = Date.parse('2030-01-02T00:00:00Z');
	expect(formatAgo('2030-01-01T23:59:40Z', now)).toBe('just now');
	expect(formatAgo('2030-01-01T22:00:00Z', now)).toBe('2 hours ago');
	expect(formatAgo('2030-01-01T00:00:00Z', now)).toBe('yesterday');
	expect(formatAgo('nonsense', now)).toBe('at an unknown time');
});

test('numbers and ids are short', () => {
	expect([formatShort(999), formatShort(1000), formatShort(1250), formatShort(3_400_000)]).toEqual([
		'999',
		'1k',
		'1.3k',
		'3.4M'
	]);
	expect(shortenId('sha256:' + 'ab'.repeat(32))).toBe('abababababab…');
});
