import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isObject } from '$lib/api/problem';

/**
 * The content id of an asset, computed here, so that nobody has to take the hub's word for it: SHA-256 over the
 * canonical JSON (RFC 8785) of the asset without its `asset_id`.
 */
type AssetMembers = Record<string, unknown>;

/** Which form of the asset has the id: all of it, or one that older clients hash. */
export type HashedForm = 'whole' | 'region' | 'model_name' | 'outcome' | 'model_name_and_outcome';

export type IdVerdict =
	| { kind: 'match'; form: HashedForm; canonical: string }
	| { kind: 'mismatch'; computed: string; canonical: string }
	| { kind: 'unreadable' };

/** Keys sorted by UTF-16 units, no white space. What JSON cannot say, such as 1e400, is null. */
export function canonicalize(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
	if (!isObject(value)) return JSON.stringify(value);
	const members = Object.keys(value)
		.sort()
		.map((key) => `${JSON.stringify(key)}:${canonicalize(value[key])}`);
	return `{${members.join(',')}}`;
}

export function computeAssetId(asset: AssetMembers): string {
	return `sha256:${bytesToHex(sha256(utf8ToBytes(canonicalize(withoutMember(asset, 'asset_id')))))}`;
}

/** Whether the text is what the id says. */
export function checkAssetId(text: string, id: string): IdVerdict {
	const asset = parseOrUndefined(text);
	if (!isObject(asset)) return { kind: 'unreadable' };
	const form = listHashedForms(asset).find(([, members]) => computeAssetId(members) === id)?.[0];
	const hashed = canonicalize(withoutMember(asset, 'asset_id'));
	return form
		? { kind: 'match', form, canonical: hashed }
		: { kind: 'mismatch', computed: computeAssetId(asset), canonical: hashed };
}

function parseOrUndefined(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Clients disagree on a few members, so a hub takes an id over any of these. */
function listHashedForms(asset: AssetMembers): [HashedForm, AssetMembers][] {
	const nameless = withoutMember(asset, 'model_name');
	const forms: [HashedForm, AssetMembers | undefined][] = [
		['whole', asset],
		['region', withRegion(asset)],
		['model_name', nameless],
		['outcome', withPlainOutcome(asset)],
		['model_name_and_outcome', withPlainOutcome(nameless)]
	];
	return forms.filter((form): form is [HashedForm, AssetMembers] => form[1] !== undefined);
}

function withoutMember(asset: AssetMembers, name: string): AssetMembers {
	return Object.fromEntries(Object.entries(asset).filter(([key]) => key !== name));
}

/** Nothing of the outcome but status and score. */
function withPlainOutcome(asset: AssetMembers): AssetMembers | undefined {
	const outcome = asset['outcome'];
	if (!isObject(outcome)) return undefined;
	const plain = Object.entries(outcome).filter(([key]) => key === 'status' || key === 'score');
	return withMember(asset, 'outcome', Object.fromEntries(plain));
}

/** `"region": null` in every fingerprint of an engine that hashed it and never wrote it. */
function withRegion(asset: AssetMembers): AssetMembers | undefined {
	let hasRestored = false;
	const restored = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(restored);
		if (!isObject(value)) return value;
		const members = Object.entries(value).map(([key, inner]): [string, unknown] => {
			if (key !== 'env_fingerprint' || !isLegacyFingerprint(inner)) return [key, restored(inner)];
			hasRestored = true;
			return [key, restored({ ...inner, region: null })];
		});
		return Object.fromEntries(members);
	};
	const whole = restored(asset) as AssetMembers;
	return hasRestored ? whole : undefined;
}

function isLegacyFingerprint(print: unknown): print is AssetMembers {
	if (!isObject(print) || Object.hasOwn(print, 'region')) return false;
	const version = print['evolver_version'];
	return typeof version === 'string' && version.startsWith('1.');
}

function withMember(asset: AssetMembers, name: string, value: unknown): AssetMembers {
	return Object.fromEntries([...Object.entries(asset).filter(([key]) => key !== name), [name, value]]);
}
