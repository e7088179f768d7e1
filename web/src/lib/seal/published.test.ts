import { describe, expect, it } from 'vitest';
import { canonical, canonicalAscii, floatText } from './canonical';
import { sha3 } from './hash';
import { unhex } from './hex';
import { at, parse, textAt, type Json } from './json';
import { publicKey } from './keys';
import { holds, readSignature } from './signature';
import { skim } from './skim';
import { fromSealed } from './stored';
import { VECTORS_MISSING, readSharedVectors } from '../../../tests/helpers/sharedVectors';

const file = (name: string): Json | null => {
	const text = readSharedVectors(`sealed/${name}.json`);
	return text === null ? null : parse(text);
};
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const say = (value: Json, name: string): string => textAt(value, name) ?? '';

const edges = file('canonical-edges');
const floats = file('float-repr');
const signatures = file('signatures');

describe('the published vectors', () => {
	it('canonical edges', ({ skip }) => {
		skip(!edges, VECTORS_MISSING);
		for (const edge of list(edges ?? undefined)) {
			const text = canonical(parse(say(edge, 'input_json')));
			expect(text).toBe(say(edge, 'canonical'));
			expect(sha3(text)).toBe(say(edge, 'sha3_256'));
		}
	});

	it('floats', ({ skip }) => {
		skip(!floats, VECTORS_MISSING);
		expect(list(floats ?? undefined).length).toBeGreaterThan(500);
		for (const pair of list(floats ?? undefined)) {
			const bytes = unhex(say(pair, 'bits_hex'), 8) ?? new Uint8Array(8);
			expect(floatText(new DataView(bytes.buffer).getFloat64(0))).toBe(say(pair, 'canonical'));
		}
	});

	it('signatures', { timeout: 60_000 }, ({ skip }) => {
		skip(!signatures, VECTORS_MISSING);
		const key = publicKey(say(signatures, 'public_key'));
		expect(key).not.toBeNull();
		for (const vector of list(at(signatures ?? undefined, 'vectors'))) {
			const check = (name: string): boolean => {
				const signature = readSignature(say(vector, name));
				return key !== null && signature !== null && holds(say(vector, 'hash'), signature, key);
			};
			expect(check('signature')).toBe(true);
			expect(check('WRONG_signature_over_raw_32_bytes')).toBe(false);
		}
	});

	for (const name of ['fixtures', 'legacy-fixtures-without-spec_version']) {
		const golden = file(name);
		it(name, ({ skip }) => {
			skip(!golden, VECTORS_MISSING);
			const fixtures = list(at(golden ?? undefined, 'fixtures'));
			expect(fixtures.length).toBeGreaterThanOrEqual(15);
			for (const fixture of fixtures) {
				const [content, hash] = [at(fixture, 'capsule_dict') ?? null, say(fixture, 'sha3_256_hash')];
				const texts = [canonical(content), canonicalAscii(content)];
				expect(texts).toContain(say(fixture, 'canonical_json'));
				expect(sha3(say(fixture, 'canonical_json'))).toBe(hash);
				expect(skim(say(fixture, 'canonical_json'))).not.toBeNull();
				const document = new Map(content instanceof Map ? content : []).set('hash', hash);
				expect(fromSealed(canonical(document)).canonical).toBe(say(fixture, 'canonical_json'));
			}
		});
	}

	const invalid = file('invalid-fixtures');
	it('invalid records of which a hash is claimed', ({ skip }) => {
		skip(!invalid, VECTORS_MISSING);
		for (const fixture of list(at(invalid ?? undefined, 'fixtures'))) {
			const claimed = textAt(fixture, 'claimed_hash');
			if (claimed) expect(sha3(canonical(at(fixture, 'capsule_dict') ?? null))).not.toBe(claimed);
		}
	});
});
