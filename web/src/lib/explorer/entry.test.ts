import { expect, test } from 'vitest';
import { isTooDeep, parseSections } from './entry';

test('a text that is nested too deep is distinguished from one that is not JSON', () => {
	const deep = `{"a":${'['.repeat(1200)}${']'.repeat(1200)}}`;
	expect(parseSections(deep)).toBeNull();
	expect(isTooDeep(deep)).toBe(true);
	for (const text of ['{"a":[]}', '{"a":']) expect(isTooDeep(text)).toBe(false);
});
