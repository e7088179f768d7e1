import { describe, expect, it } from 'vitest';
import { buildLoginHref, sanitizeNextPath } from './nextPath';

describe('where a login leads', () => {
	it('goes back to a page of this site', () => {
		expect(sanitizeNextPath('/bounties/new?x=1#y')).toBe('/bounties/new?x=1#y');
		expect(sanitizeNextPath('/')).toBe('/');
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
			expect(sanitizeNextPath(wanted), String(wanted)).toBe('/account');
	});

	it('does not lead to itself', () => {
		expect(sanitizeNextPath('/login?next=/login')).toBe('/account');
		expect(sanitizeNextPath('/register')).toBe('/account');
		expect(sanitizeNextPath('/logins')).toBe('/logins');
	});

	it('is encoded in the address', () => {
		expect(buildLoginHref('/login', '/tasks?a=1&b=2')).toBe('/login?next=%2Ftasks%3Fa%3D1%26b%3D2');
		expect(buildLoginHref('/login', '/login')).toBe('/login');
	});
});
