import { expect, test } from 'vitest';
import { inert, inertLine } from './inert';

test('invisible characters are shown', () => {
	expect(inert('a\u202eb\u0007c\td\r\ne')).toBe('a⟨U+202E⟩b⟨U+0007⟩c\td\ne');
	expect(inertLine(' a\n b ')).toBe('a ⏎ b');
});

test('letters without a shape, variants and tags are shown too', () => {
	const unseen = [
		0x34f, 0x115f, 0x1160, 0x180e, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xffa0, 0xe0041, 0xe0100, 0xe01ef
	];
	for (const point of unseen) {
		const mark = `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`;
		expect(inert(`a${String.fromCodePoint(point)}b`)).toBe(`a${mark}b`);
	}
});

test('an emoji keeps its colours, once', () => {
	for (const text of ['I ❤\ufe0f it', '⚠\ufe0f', '\u{1f6e0}\ufe0f', '🧬 naïve 固化 한글'])
		expect(inert(text)).toBe(text);
	expect(inert('❤\ufe0f\ufe0f')).toBe('❤\ufe0f⟨U+FE0F⟩');
	expect(inert('1\ufe0f')).toBe('1⟨U+FE0F⟩');
});

test('a long run of spaces is processed quickly', () => {
	const start = performance.now();
	inertLine(`${' '.repeat(200_000)}x`);
	expect(performance.now() - start).toBeLessThan(2000);
});
