import { expect, test } from 'vitest';
import { VECTORS_MISSING, readSharedVectors } from '../../../tests/helpers/sharedVectors';
import { computeAssetId, canonicalize, checkAssetId } from './assetId';

const parse = (text: string) => JSON.parse(text) as Record<string, unknown>;
const stamped = (asset: Record<string, unknown>) => JSON.stringify({ ...asset, asset_id: 'any' });

test('the canonical form sorts by UTF-16 units and writes numbers in one way', () => {
	const odd = parse('{"\\ufb33":1,"\\ud83d\\ude00":2,"10":3,"2":4,"":5,"__proto__":6}');
	expect(canonicalize(odd)).toBe('{"":5,"10":3,"2":4,"__proto__":6,"😀":2,"\ufb33":1}');
	const numbers = parse('{"a":1.0,"b":-0,"c":1e21,"d":9007199254740993,"e":1e400,"f":1E-7,"g":[0.10]}');
	expect(canonicalize(numbers)).toBe(
		'{"a":1,"b":0,"c":1e+21,"d":9007199254740992,"e":null,"f":1e-7,"g":[0.1]}'
	);
	expect(canonicalize(parse('{"s":"\\ud83d \\u2028\\u007f\\u000b\\/"}'))).toBe(
		'{"s":"\\ud83d \u2028\u007f\\u000b/"}'
	);
});

test('known ids', () => {
	expect(computeAssetId(parse('{"type":"Gene","id":"g1"}'))).toBe(
		'sha256:aa914307d9b1985176b409544b0c1bc7071af361d1c31bd37b65bb5de0f03f8d'
	);
	const nested =
		'{"b":{"z":1,"asset_id":"kept-because-nested","a":2},"asset_id":"sha256:dropped","a":[3,{"y":null,"x":true}]}';
	expect(computeAssetId(parse(nested))).toBe(
		'sha256:c7357e583a8b0bde26a35a1b61d0e7351e303f749ca0952d5b1848e090ae3a3f'
	);
});

test('an id holds over the whole, and over the forms that older clients hash', () => {
	const asset = {
		type: 'Capsule',
		model_name: 'm',
		outcome: { status: 'success', score: 1, note: 'kept by some' }
	};
	const { model_name, ...nameless } = asset;
	const plain = { status: 'success', score: 1 };
	const form = (hashed: Record<string, unknown>) => checkAssetId(stamped(asset), computeAssetId(hashed));
	expect(form(asset)).toMatchObject({ kind: 'match', form: 'whole' });
	expect(form(nameless)).toMatchObject({ kind: 'match', form: 'model_name' });
	expect(form({ ...asset, outcome: plain })).toMatchObject({ kind: 'match', form: 'outcome' });
	expect(form({ ...nameless, outcome: plain })).toMatchObject({ form: 'model_name_and_outcome' });
	expect(form({ ...asset, model_name: `${model_name}x` })).toMatchObject({ kind: 'mismatch' });
});

test('the region that an engine hashed and did not write is restored', () => {
	const written = { type: 'ValidationReport', list: [{ env_fingerprint: { evolver_version: '1.29.8' } }] };
	const hashed = { ...written, list: [{ env_fingerprint: { evolver_version: '1.29.8', region: null } }] };
	expect(checkAssetId(stamped(written), computeAssetId(hashed))).toMatchObject({
		kind: 'match',
		form: 'region'
	});
	const newer = { env_fingerprint: { evolver_version: '2.0.0' } };
	const wrong = { env_fingerprint: { evolver_version: '2.0.0', region: null } };
	expect(checkAssetId(stamped(newer), computeAssetId(wrong)).kind).toBe('mismatch');
});

test('a value that is not an object is unreadable', () => {
	expect(checkAssetId('[1]', 'sha256:0').kind).toBe('unreadable');
	expect(checkAssetId('{', 'sha256:0').kind).toBe('unreadable');
});

test('the vectors that others share', ({ skip }) => {
	const text = readSharedVectors('asset_id.json');
	if (text === null) return skip(VECTORS_MISSING);
	interface Vector {
		name: string;
		input_json: string;
		canonical: string;
		asset_id: string;
	}
	const { vectors } = JSON.parse(text) as { vectors: Vector[] };
	expect(vectors.length).toBeGreaterThan(0);
	for (const vector of vectors) {
		const { asset_id: _stored, ...rest } = parse(vector.input_json);
		expect(canonicalize(rest), vector.name).toBe(vector.canonical);
		expect(checkAssetId(vector.input_json, vector.asset_id).kind, vector.name).toBe('match');
	}
});
