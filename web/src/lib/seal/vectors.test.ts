/** The vectors that the program's own verifier wrote: letters, numbers, keys and signatures. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonical, canonicalAscii, floatText } from './canonical';
import { sha3 } from './hash';
import { unhex } from './hex';
import { parse, parseUnambiguous } from './json';
import { publicKey } from './keys';
import { holds, readSignature } from './signature';
import { skim } from './skim';

function vectors<T>(name: string): T {
	return JSON.parse(readFileSync(`tests/vectors/${name}.json`, 'utf8')) as T;
}

function orNull<T>(work: () => T): T | null {
	try {
		return work();
	} catch {
		return null;
	}
}

interface TextVector {
	text: string;
	hash: string;
	head: [string, string, string | null] | null;
	canonical: [string, string] | null;
	unambiguous: boolean;
}

describe('what the program says', () => {
	it.each(vectors<TextVector[]>('texts'))('of the text $text', ({ text, hash, head, ...expected }) => {
		expect(sha3(text)).toBe(hash);
		const found = skim(text);
		expect(found && [found.id, found.sequence, found.previousHash]).toEqual(
			head && [head[0], Number(head[1]), head[2]]
		);
		const value = orNull(() => ({ value: parse(text) }));
		expect(value && [canonical(value.value), canonicalAscii(value.value)]).toEqual(expected.canonical);
		expect(orNull(() => [parseUnambiguous(text)]) !== null).toBe(expected.unambiguous);
	});

	it('of floats', () => {
		for (const [bits, text] of vectors<[string, string][]>('numbers')) {
			const bytes = unhex(bits, 8) ?? new Uint8Array(8);
			expect(floatText(new DataView(bytes.buffer).getFloat64(0))).toBe(text);
		}
	});

	const { keys, signatures } = vectors<{
		keys: [string, boolean][];
		signatures: [string, string, boolean][];
	}>('signatures');

	it.each(keys)('of the key "%s": %s', (text, isKey) => {
		expect(publicKey(text) !== null).toBe(isKey);
	});

	it('of signatures at the edge, with prepared multiples of the key and without', { timeout: 60_000 }, () => {
		const key = publicKey(keys[0]?.[0] ?? '');
		if (!key) throw new Error('the first key is an honest one');
		expect(signatures.some(([, , isGood]) => isGood)).toBe(true);
		for (let round = 0; round < 3; round++) {
			for (const [text, signature, isGood] of signatures) {
				const read = readSignature(signature);
				expect(read !== null && holds(text, read, key), signature).toBe(isGood);
			}
		}
	});
});
