/** The engine of the page is as strict about keys and signatures as the program. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifierModule } from '../../../tests/helpers/testEngine';
import { Verifier } from './verifier';

const table = JSON.parse(readFileSync('tests/vectors/signatures.json', 'utf8')) as {
	keys: [hex: string, isKey: boolean][];
	signatures: [hash: string, signature: string, holds: boolean][];
	edges: [name: string, key: string, hash: string, signature: string, holds: boolean][];
};
const verifier = new Verifier(verifierModule);

/** What the engine says of a signature over a hash. */
function check(key: string, hash: string, signature: string): string | null {
	verifier.setKeys([[key, 'bundled', null]]);
	const record = {
		hash,
		signature,
		signature_pq: '',
		signed_at: '',
		signed_by: key.slice(0, 16),
		canonical: ''
	};
	return verifier.record(new TextEncoder().encode(JSON.stringify(record))).verdict[4][0];
}

describe('the engine of the page', () => {
	it('has all seven edge cases of signatures', () => {
		expect(table.edges.map(([name]) => name)).toEqual([
			'an honest signature',
			'S + L',
			'R of small order',
			'a second encoding of R',
			'R of mixed order',
			'a key of small order',
			'a key of mixed order'
		]);
	});

	it.each(table.edges)('is as strict as the program: %s', (_, key, hash, signature, holds) => {
		const isKey = verifier.setKeys([[key, 'bundled', null]]).length === 1;
		expect(check(key, hash, signature)).toBe(holds ? null : isKey ? 'signature' : 'unknown_signer');
	});

	it('takes the keys that the program takes', () => {
		for (const [hex, isKey] of table.keys)
			expect([hex, verifier.setKeys([[hex, 'bundled', null]]).length === 1]).toEqual([hex, isKey]);
	});

	it('takes the signatures that the program takes', () => {
		const key = table.edges[0]?.[1] ?? '';
		const actual = table.signatures.map(([hash, signature]) => check(key, hash, signature) === null);
		expect(actual).toEqual(table.signatures.map(([, , holds]) => holds));
		expect(actual).toContain(true);
	});
});
