import { expect, it } from 'vitest';
import { parseSignals } from './signals';

it('takes signals apart, each once', () => {
	expect(parseSignals(' a, b,,a ,c')).toEqual(['a', 'b', 'c']);
	expect(parseSignals('')).toEqual([]);
});
