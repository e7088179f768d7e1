/**
 * Text of strangers, made visible: control characters and those that turn the direction of reading become marks.
 * Svelte escapes markup; this takes care of what is left. `{@html}` is used nowhere.
 */
const ODD =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export function inert(text: string): string {
	return text
		.replace(/\r\n/g, '\n')
		.replace(ODD, (odd) => `⟨U+${odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The same in one line. */
export function inertLine(text: string): string {
	return inert(text.replace(/\s*\n\s*/g, ' ⏎ ')).trim();
}
