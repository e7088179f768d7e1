import { expect, test } from 'vitest';
import { describeActor, formatNumber, listSignals, filterTexts, formatTitle } from './labels';

test('a title is one short line', () => {
	expect(formatTitle({ type: 'Gene', summary: 'Retry, then give up.' })).toBe('Retry, then give up.');
	const two = `Retry with growing pauses; then ${'give up '.repeat(30)}`;
	expect(formatTitle({ type: 'Gene', summary: two })).toBe('Retry with growing pauses');
	const long = formatTitle({ type: 'Capsule', summary: 'word '.repeat(100) });
	expect(long.length).toBeLessThan(112);
	expect(long.endsWith('word…')).toBe(true);
	expect(formatTitle({ type: 'Capsule', summary: 'x'.repeat(300) }).length).toBe(111);
	expect(formatTitle({ type: 'Capsule', summary: 'a\u202eb\nc' })).toBe('a⟨U+202E⟩b ⏎ c');
});

test('an asset without a summary has a title too', () => {
	expect(
		formatTitle({ type: 'EvolutionEvent', summary: '', intent: 'repair', signals: ['TimeoutError'] })
	).toBe('How a repair was made, started by TimeoutError');
	expect(formatTitle({ type: 'Gene', summary: ' ' })).toBe('Gene without a summary');
});

test('only texts are signals', () => {
	expect(listSignals({ signals: ['a', 1, '', { b: 2 }] })).toEqual(['a']);
	expect(filterTexts('one')).toEqual(['one']);
	expect(filterTexts({})).toEqual([]);
});

test('actors are described', () => {
	expect(describeActor('node:node_1')).toEqual({ words: 'node_1', node: 'node_1' });
	expect(describeActor('user:user_9').node).toBeUndefined();
	expect(describeActor('promotion').words).toBe('promotion');
});

test('numbers of publishers are rounded', () => {
	expect([0.7999999999999999, 1, 12345.678].map(formatNumber)).toEqual(['0.8', '1', '12,345.68']);
});
