/**
 * Text of strangers, made visible: control characters, those that turn the direction of reading, and those that nobody
 * sees become marks. Svelte escapes markup; this takes care of what is left. `{@html}` is used nowhere.
 */
const INVISIBLE = new RegExp(
	[
		'[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]', // control characters
		'[\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]', // direction, joins, separators
		'[\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0]', // letters without a shape
		'[\\ufe00-\\ufe0f\\u{e0000}-\\u{e0fff}]' // variants and tags
	].join('|'),
	'gu'
);

/** An emoji may ask for its colours, and only there is the mark for it no hiding place. */
const EMOJI = /\p{Extended_Pictographic}$/u;

export function inert(text: string): string {
	return text
		.replace(/\r\n/g, '\n')
		.replace(INVISIBLE, (odd, at: number, whole: string) =>
			odd === '\ufe0f' && EMOJI.test(whole.slice(Math.max(0, at - 2), at)) ? odd : formatCodePoint(odd)
		);
}

function formatCodePoint(odd: string): string {
	return `⟨U+${odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** The same in one line. */
export function inertLine(text: string): string {
	// No pattern for space around line ends: over a long run of spaces it would take minutes.
	return inert(text)
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '')
		.join(' ⏎ ');
}
