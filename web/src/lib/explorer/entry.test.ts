import { expect, test } from 'vitest';
import { isTooDeep, parseSections } from './entry';

test('a text that is nested too deep is told from one that is no JSON', () => {
	const deep = `{"a":${'['.repeat(1200)}${']'.repeat(1200)}}`;
	expect(parseSections(deep)).toBeNull();
	expect(isTooDeep(deep)).toBe(true);
	for (const text of ['{"a":[]}', '{"a":']) expect(isTooDeep(text)).toBe(false);
});
