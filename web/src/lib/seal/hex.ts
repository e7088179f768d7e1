const DIGITS = '0123456789abcdef';

/** Lowercase hex. */
export function hex(bytes: Uint8Array): string {
	let text = '';
	for (const byte of bytes) text += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
	return text;
}

/** Reads exactly `length` bytes of lowercase hex: a seal that reads two ways could be changed unseen. */
export function unhex(text: string, length: number): Uint8Array | null {
	if (text.length !== 2 * length) return null;
	const bytes = new Uint8Array(length);
	for (let at = 0; at < length; at++) {
		const high = digit(text.charCodeAt(2 * at));
		const low = digit(text.charCodeAt(2 * at + 1));
		if (high < 0 || low < 0) return null;
		bytes[at] = (high << 4) | low;
	}
	return bytes;
}

function digit(code: number): number {
	if (code >= 48 && code <= 57) return code - 48;
	return code >= 97 && code <= 102 ? code - 87 : -1;
}
