import { expect, test } from 'vitest';
import { Problem } from '$lib/api/problem';
import { Stopped } from './engineError';
import { troubleOf } from './engineProblem';

test('every trouble says what to do, by its code', () => {
	expect(troubleOf(new Stopped('key_refused', 'No.')).fix).toContain('capsid trail explore');
	expect(troubleOf(new Stopped('no_bundle', 'None.'))).toMatchObject({ code: 'no_bundle', message: 'None.' });
	expect(troubleOf(new Stopped('no_bundle', 'None.')).fix).toContain('trail export');
	expect(troubleOf('odd')).toMatchObject({ code: 'chain_unreadable', message: 'odd' });
	const told = new Problem('a', 'b', 'c', 1);
	expect(troubleOf(told)).toBe(told);
});
