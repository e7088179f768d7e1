import { inert } from './inert';

export type DiffLineKind = 'added' | 'removed' | 'hunk' | 'file' | 'same';

/** The lines of a unified diff, and what each does. The lines after the last one that matters are not invented. */
export function parseDiff(text: string): { kind: DiffLineKind; line: string }[] {
	const lines = inert(text).replace(/\n$/, '').split('\n');
	return lines.map((line) => ({ kind: classifyLine(line), line }));
}

function classifyLine(line: string): DiffLineKind {
	if (/^(diff |index |--- |\+\+\+ |new file|deleted file|rename )/.test(line)) return 'file';
	if (line.startsWith('@@')) return 'hunk';
	if (line.startsWith('+')) return 'added';
	return line.startsWith('-') ? 'removed' : 'same';
}
