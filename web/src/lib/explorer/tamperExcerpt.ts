/** How much is shown before the place where two texts part, and after it. */
const AROUND = 60;

/** A text around a change: what stays, what is changed, and what stays behind it. */
export interface ChangeExcerpt {
	head: string;
	changed: string;
	tail: string;
}

/** Both texts around the place where they part. */
export function excerptChange(
	before: string,
	after: string
): { before: ChangeExcerpt; after: ChangeExcerpt } {
	let start = 0;
	while (start < before.length && before[start] === after[start]) start++;
	const room = Math.min(before.length, after.length) - start;
	let same = 0;
	while (same < room && before.at(-1 - same) === after.at(-1 - same)) same++;
	const excerpt = (text: string): ChangeExcerpt => {
		const [from, until] = [alignToLetter(text, start), alignToLetter(text, text.length - same)];
		const first = alignToLetter(text, Math.max(0, from - AROUND));
		const last = alignToLetter(text, Math.min(text.length, Math.max(until, from) + AROUND));
		const changed = text.slice(from, until);
		return {
			head: `${first > 0 ? '…' : ''}${text.slice(first, from)}`,
			changed:
				changed.length > 4 * AROUND ? `${changed.slice(0, alignToLetter(changed, 4 * AROUND))}…` : changed,
			tail: `${text.slice(Math.max(until, from), last)}${last < text.length ? '…' : ''}`
		};
	};
	return { before: excerpt(before), after: excerpt(after) };
}

/** A letter that takes two places is not cut in half. */
function alignToLetter(text: string, at: number): number {
	const unit = text.charCodeAt(at);
	return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at;
}
