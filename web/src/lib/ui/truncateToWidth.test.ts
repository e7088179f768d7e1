import { expect, test } from 'vitest';
import { fitting } from './truncateToWidth';

test('a label is as long as its room', () => {
	const width = (text: string) => text.length;
	expect(fitting('Retry twice', 20, width)).toBe('Retry twice');
	expect(fitting('Retry twice', 7, width)).toBe('Retry…');
});
