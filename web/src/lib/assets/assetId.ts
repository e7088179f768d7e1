import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isObject } from '$lib/api/problem';

/**
 * The content id of an asset, computed here, so that nobody has to take the hub's word for it: SHA-256 over the
 * canonical JSON (RFC 8785) of the asset without its `asset_id`.
 */
type Members = Record<string, unknown>;

/** Which form of the asset has the id: all of it, or one that older clients hash. */
export type Form = 'whole' | 'region' | 'model_name' | 'outcome' | 'model_name_and_outcome';

export type Verdict =
	| { kind: 'match'; form: Form; canonical: string }
	| { kind: 'mismatch'; computed: string; canonical: string }
	| { kind: 'unreadable' };

/** Keys sorted by UTF-16 units, no white space. What JSON cannot say, such as 1e400, is null. */
export function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
	if (!isObject(value)) return JSON.stringify(value);
	const members = Object.keys(value)
		.sort()
		.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
	return `{${members.join(',')}}`;
}

export function assetId(asset: Members): string {
	return `sha256:${bytesToHex(sha256(utf8ToBytes(canonical(without(asset, 'asset_id')))))}`;
}

/** Whether the text is what the id says. */
export function checkId(text: string, id: string): Verdict {
	const asset = parsed(text);
	if (!isObject(asset)) return { kind: 'unreadable' };
	const form = forms(asset).find(([, members]) => assetId(members) === id)?.[0];
	const hashed = canonical(without(asset, 'asset_id'));
	return form
		? { kind: 'match', form, canonical: hashed }
		: { kind: 'mismatch', computed: assetId(asset), canonical: hashed };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Clients disagree on a few members, so a hub takes an id over any of these. */
function forms(asset: Members): [Form, Members][] {
	const nameless = without(asset, 'model_name');
	const found: [Form, Members | undefined][] = [
		['whole', asset],
		['region', withRegion(asset)],
		['model_name', nameless],
		['outcome', withPlainOutcome(asset)],
		['model_name_and_outcome', withPlainOutcome(nameless)]
	];
	return found.filter((form): form is [Form, Members] => form[1] !== undefined);
}

function without(asset: Members, name: string): Members {
	return Object.fromEntries(Object.entries(asset).filter(([key]) => key !== name));
}

/** Nothing of the outcome but status and score. */
function withPlainOutcome(asset: Members): Members | undefined {
	const outcome = asset['outcome'];
	if (!isObject(outcome)) return undefined;
	const plain = Object.entries(outcome).filter(([key]) => key === 'status' || key === 'score');
	return with_(asset, 'outcome', Object.fromEntries(plain));
}

/** `"region": null` in every fingerprint of an engine that hashed it and never wrote it. */
function withRegion(asset: Members): Members | undefined {
	let found = false;
	const restored = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(restored);
		if (!isObject(value)) return value;
		const members = Object.entries(value).map(([key, inner]): [string, unknown] => {
			if (key !== 'env_fingerprint' || !isOldPrint(inner)) return [key, restored(inner)];
			found = true;
			return [key, restored({ ...inner, region: null })];
		});
		return Object.fromEntries(members);
	};
	const whole = restored(asset) as Members;
	return found ? whole : undefined;
}

function isOldPrint(print: unknown): print is Members {
	if (!isObject(print) || Object.hasOwn(print, 'region')) return false;
	const version = print['evolver_version'];
	return typeof version === 'string' && version.startsWith('1.');
}

function with_(asset: Members, name: string, value: unknown): Members {
	return Object.fromEntries([...Object.entries(asset).filter(([key]) => key !== name), [name, value]]);
}
