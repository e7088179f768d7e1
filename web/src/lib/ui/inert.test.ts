import { expect, test } from 'vitest';
import { inert, inertLine } from './inert';

test('what cannot be seen is shown', () => {
	expect(inert('a\u202eb\u0007c\td\r\ne')).toBe('a⟨U+202E⟩b⟨U+0007⟩c\td\ne');
	expect(inertLine(' a\n b ')).toBe('a ⏎ b');
});
