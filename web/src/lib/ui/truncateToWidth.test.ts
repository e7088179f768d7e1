import { expect, test } from 'vitest';
import { truncateToWidth } from './truncateToWidth';

test('a label is truncated to its width', () => {
	const width = (text: string) => text.length;
	expect(truncateToWidth('Retry twice', 20, width)).toBe('Retry twice');
	expect(truncateToWidth('Retry twice', 7, width)).toBe('Retry…');
});
