import { expect, test } from 'vitest';
import { sealOf, sentence, sourceOf } from './labels';
import { cycle } from '../../../tests/helpers/cycles';

test('reasons that are known become sentences, others stay as they are', () => {
	expect(sentence('signals match gene.signals_match')).toBe('The signals match patterns of a gene.');
	expect(sentence('signals: log_error, errsig:10:02 error')).toBe(
		'It answers: log_error, errsig:10:02 error.'
	);
	expect(sentence('memory_graph: memory_prefer:gene_a | memory_ban:b,c | gene_prior:0.750')).toBe(
		'Memory prefers gene_a. Memory rules out b, c. Over all signals that gene is worth 0.750.'
	);
	expect(sentence('drift_intensity: 0.300')).toBe('Chance weighed 0.300.');
	expect(sentence('the engine of somebody else')).toBe('the engine of somebody else');
});

test('the state of the log is told in a sentence', () => {
	const seal = { state: 'sealed' as const, intact: 6, unsealed: 0, line: null, change: null };
	expect(sealOf(seal)).toBe('All 6 lines of the log are as they were sealed.');
	expect(sealOf({ ...seal, state: 'unsealed', unsealed: 2 })).toContain('2 after them');
	expect(sealOf({ ...seal, state: 'unsealed', intact: 0 })).toContain('Nothing');
	expect(sealOf({ ...seal, state: 'broken', line: 3, change: 'edited' })).toContain('line 3 was edited');
	expect(sealOf({ ...seal, state: 'broken', change: 'chain_missing' })).toContain('missing');
});

test('where a solution came from is told, or that nobody knows', () => {
	expect(sourceOf(cycle('a', null, { source: '' }))).toBe('Not recorded');
	expect(sourceOf(cycle('a', null, { source: 'generated' }))).toBe('Generated here');
	expect(sourceOf(cycle('a', null, { source: 'elsewhere' }))).toBe('elsewhere');
});
