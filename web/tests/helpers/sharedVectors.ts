import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Why a test that needs the shared vectors is left out. */
export const VECTORS_MISSING = 'the shared vectors are not here: CAPSID_VECTORS names their folder';

/** A file or folder of the vectors that other programs share, where they lie beside the project; else null. */
export function findSharedVectors(name: string): string | null {
	const named = process.env['CAPSID_VECTORS'];
	if (named) return ifExists(join(named, name));
	for (let folder = process.cwd(); ; folder = dirname(folder)) {
		const path = ifExists(join(folder, 'shared/vectors', name));
		if (path || folder === dirname(folder)) return path;
	}
}

export function readSharedVectors(name: string): string | null {
	const path = findSharedVectors(name);
	return path && readFileSync(path, 'utf8');
}

function ifExists(path: string): string | null {
	return existsSync(path) ? path : null;
}
