import { expect, test } from 'vitest';
import { Problem } from '$lib/api/problem';
import { troubleOf } from './trouble';

test('every trouble says what to do', () => {
	expect(troubleOf(new Error('index.json was refused with status 401.')).fix).toContain(
		'capsid trail explore'
	);
	expect(troubleOf(new Error('There is no index.json here.')).fix).toContain('trail export');
	expect(troubleOf('odd').message).toBe('odd');
	const told = new Problem('a', 'b', 'c', 1);
	expect(troubleOf(told)).toBe(told);
});
