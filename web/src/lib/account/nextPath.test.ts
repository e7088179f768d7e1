import { describe, expect, it } from 'vitest';
import { leadingBack, safeNext } from './nextPath';

describe('where a login leads', () => {
	it('goes back to a page of this site', () => {
		expect(safeNext('/bounties/new?x=1#y')).toBe('/bounties/new?x=1#y');
		expect(safeNext('/')).toBe('/');
	});

	it('never leaves the site', () => {
		for (const wanted of [
			'//elsewhere.example',
			'/\\elsewhere.example',
			'/\t/elsewhere.example',
			'https://elsewhere.example',
			'javascript:alert(1)',
			'elsewhere',
			'/a\\b',
			'',
			null,
			undefined
		])
			expect(safeNext(wanted), String(wanted)).toBe('/account');
	});

	it('does not lead to itself', () => {
		expect(safeNext('/login?next=/login')).toBe('/account');
		expect(safeNext('/register')).toBe('/account');
		expect(safeNext('/logins')).toBe('/logins');
	});

	it('is written so that it survives the way', () => {
		expect(leadingBack('/login', '/tasks?a=1&b=2')).toBe('/login?next=%2Ftasks%3Fa%3D1%26b%3D2');
		expect(leadingBack('/login', '/login')).toBe('/login');
	});
});
