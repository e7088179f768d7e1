/**
 * The text of one member of a JSON object, as it was sent: parsing and writing it again would lose what 1.0 or a long
 * number looked like. Nothing where the text has no such member.
 */
export function extractRawMember(text: string, name: string): string | undefined {
	let at = skipWhitespace(text, 0);
	if (text[at] !== '{') return undefined;
	at = skipWhitespace(text, at + 1);
	while (text[at] === '"') {
		const key = findValueEnd(text, at);
		const begin = skipWhitespace(text, skipWhitespace(text, key) + 1);
		const after = findValueEnd(text, begin);
		if (JSON.parse(text.slice(at, key)) === name) return text.slice(begin, after);
		at = skipWhitespace(text, after);
		if (text[at] !== ',') return undefined;
		at = skipWhitespace(text, at + 1);
	}
	return undefined;
}

function skipWhitespace(text: string, at: number): number {
	while (at < text.length && ' \t\r\n'.includes(text[at]!)) at += 1;
	return at;
}

/** Where the value ends that begins here. The text is known to be JSON, so brackets are only counted. */
function findValueEnd(text: string, at: number): number {
	let depth = 0;
	for (; at < text.length; at += 1) {
		const unit = text[at]!;
		if (unit === '"') {
			at = findClosingQuote(text, at);
			if (depth === 0) return at + 1;
		} else if ('{['.includes(unit)) depth += 1;
		else if ('}]'.includes(unit)) {
			if (depth === 0) return at;
			depth -= 1;
			if (depth === 0) return at + 1;
		} else if (depth === 0 && ', \t\r\n'.includes(unit)) return at;
	}
	return at;
}

function findClosingQuote(text: string, at: number): number {
	for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
	return at;
}
