import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The names it goes by, which `scripts/setup` looks for too. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

function isProgram(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** The browser that `CHROMIUM` names, else the first that is installed. */
export function findChromium(): string {
	const named = process.env['CHROMIUM'];
	if (named?.includes('/')) return named;
	const folders = (process.env['PATH'] ?? '').split(delimiter);
	const paths = (named ? [named] : NAMES).flatMap((name) => folders.map((folder) => join(folder, name)));
	const path = paths.find(isProgram);
	if (!path) throw new Error('There is no Chromium. Run `scripts/setup test`, or name one with CHROMIUM.');
	return path;
}
