import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** For tests: a file of published vectors, where they lie beside the project; null where they do not. */
export function published(name: string): string | null {
	for (let folder = process.cwd(); ; folder = dirname(folder)) {
		const path = join(folder, 'shared/vectors/sealed', name);
		if (existsSync(path)) return path;
		if (folder === dirname(folder)) return null;
	}
}

export function publishedText(name: string): string | null {
	const path = published(name);
	return path && readFileSync(path, 'utf8');
}
