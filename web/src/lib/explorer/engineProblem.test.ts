import { expect, test } from 'vitest';
import { Problem } from '$lib/api/problem';
import { EngineError } from './engineError';
import { toEngineProblem } from './engineProblem';

test('every engine error has a fix by its code', () => {
	expect(toEngineProblem(new EngineError('key_refused', 'No.')).fix).toContain('capsid trail explore');
	expect(toEngineProblem(new EngineError('no_bundle', 'None.'))).toMatchObject({
		code: 'no_bundle',
		message: 'None.'
	});
	expect(toEngineProblem(new EngineError('no_bundle', 'None.')).fix).toContain('trail export');
	expect(toEngineProblem('odd')).toMatchObject({ code: 'chain_unreadable', message: 'odd' });
	const problem = new Problem('a', 'b', 'c', 1);
	expect(toEngineProblem(problem)).toBe(problem);
});
