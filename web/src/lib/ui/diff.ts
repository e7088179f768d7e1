import { inert } from './inert';

export type Kind = 'added' | 'removed' | 'place' | 'file' | 'same';

/** The lines of a unified diff, and what each does. The lines after the last one that matters are not invented. */
export function diffLines(text: string): { kind: Kind; line: string }[] {
	const lines = inert(text).replace(/\n$/, '').split('\n');
	return lines.map((line) => ({ kind: kindOf(line), line }));
}

function kindOf(line: string): Kind {
	if (/^(diff |index |--- |\+\+\+ |new file|deleted file|rename )/.test(line)) return 'file';
	if (line.startsWith('@@')) return 'place';
	if (line.startsWith('+')) return 'added';
	return line.startsWith('-') ? 'removed' : 'same';
}
