import { expect, it } from 'vitest';
import { Problem } from '$lib/api/problem';
import { splitFieldErrors } from './fieldErrors';

const names = ['email', 'password'] as const;

it('assigns a problem to its field', () => {
	const problem = Problem.fromResponse(400, {
		error: 'validation_error',
		correction: { problem: 'p', fix: 'f' },
		details: [{ path: 'password', expected: 'a text of 8 to 200 characters', received: '1 characters' }]
	});
	expect(splitFieldErrors(problem, names)).toEqual({
		wrong: { password: 'This should be a text of 8 to 200 characters.' },
		rest: undefined
	});
});

it('keeps a problem that is about no field', () => {
	const problem = Problem.fromResponse(401, { error: 'invalid_credentials' });
	expect(splitFieldErrors(problem, names)).toEqual({ wrong: {}, rest: problem });
	expect(splitFieldErrors(undefined, names)).toEqual({ wrong: {}, rest: undefined });
});

it('keeps a problem of a field that is not in the form', () => {
	const problem = Problem.fromResponse(400, { details: [{ path: 'other', expected: 'x' }] });
	expect(splitFieldErrors(problem, names).rest).toBe(problem);
});
