/** How much is shown before the place where two texts part, and after it. */
const AROUND = 60;

/** Both texts around the place where they part. */
export function excerptChange(before: string, after: string): { before: string; after: string } {
	let start = 0;
	while (start < before.length && before[start] === after[start]) start++;
	const from = alignToLetter(before, Math.max(0, start - AROUND));
	const excerpt = (text: string) => {
		const to = alignToLetter(text, Math.min(text.length, from + 2 * AROUND));
		return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
	};
	return { before: excerpt(before), after: excerpt(after) };
}

/** A letter that takes two places is not cut in half. */
function alignToLetter(text: string, at: number): number {
	const unit = text.charCodeAt(at);
	return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at;
}
