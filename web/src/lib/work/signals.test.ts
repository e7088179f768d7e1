import { expect, it } from 'vitest';
import { parseSignals } from './signals';

it('splits signals at commas and removes duplicates', () => {
	expect(parseSignals(' a, b,,a ,c')).toEqual(['a', 'b', 'c']);
	expect(parseSignals('')).toEqual([]);
});
