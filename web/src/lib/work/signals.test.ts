import { expect, it } from 'vitest';
import { signalsOf } from './signals';

it('takes signals apart, each once', () => {
	expect(signalsOf(' a, b,,a ,c')).toEqual(['a', 'b', 'c']);
	expect(signalsOf('')).toEqual([]);
});
