import { unhex } from '$lib/seal/hex';
import { at, Int, parse, type Json } from './exactJson';
import { readText, type BundleFiles } from './files';
import type { KeyInput } from './verifier';

/** What the local viewer says of keys, and of what it serves. */
interface LocalKeys {
	keys: KeyInput[];
	pq: Uint8Array | null;
	isHome: boolean;
	/** The names of the files, where the viewer lists them. */
	files: string[] | null;
}

export const NO_KEYS: LocalKeys = { keys: [], pq: null, isHome: false, files: null };

/** The keys that the command line uses on this machine, and its post-quantum key where it has one. */
export async function readLocalKeys(files: BundleFiles): Promise<LocalKeys> {
	const known = parse((await readText(files, 'keys.json')) ?? '{}');
	const own = at(known, 'own');
	const pq = at(known, 'pq');
	const keys: KeyInput[] = typeof own === 'string' ? [[own, 'own', null]] : [];
	for (const pin of asList(at(known, 'pinned')))
		if (typeof pin === 'string') keys.push([pin, 'pinned', null]);
	for (const one of asList(at(known, 'keys'))) {
		const [hex, origin, epoch] = asList(one);
		if (typeof hex === 'string' && typeof origin === 'string') keys.push([hex, origin, toEpoch(epoch)]);
	}
	const listed = at(known, 'files');
	const isHome = at(known, 'place') === 'home';
	return {
		keys,
		pq: typeof pq === 'string' ? unhex(pq, 1952) : null,
		isHome,
		files: Array.isArray(listed) && !isHome ? listed.filter((name) => typeof name === 'string') : null
	};
}

function asList(value: Json | undefined): Json[] {
	return Array.isArray(value) ? value : [];
}

function toEpoch(value: Json | undefined): number | null {
	const epoch = value instanceof Int ? Number(value.digits) : -1;
	return Number.isSafeInteger(epoch) && epoch >= 0 ? epoch : null;
}
