import { expect, test } from 'vitest';
import { describeLogSeal, describeReason, describeSource } from './labels';
import { createCycle } from '../../../tests/helpers/cycles';

test('reasons that are known become sentences, others stay as they are', () => {
	expect(describeReason('signals match gene.signals_match')).toBe('The signals match patterns of a gene.');
	expect(describeReason('signals: log_error, errsig:10:02 error')).toBe(
		'It answers: log_error, errsig:10:02 error.'
	);
	expect(describeReason('memory_graph: memory_prefer:gene_a | memory_ban:b,c | gene_prior:0.750')).toBe(
		'Memory prefers gene_a. Memory rules out b, c. Over all signals that gene is worth 0.750.'
	);
	expect(describeReason('drift_intensity: 0.300')).toBe('Chance weighed 0.300.');
	expect(describeReason('the engine of somebody else')).toBe('the engine of somebody else');
});

test('the seal of the log is described in a sentence', () => {
	const seal = { state: 'sealed' as const, intact: 6, unsealed: 0, line: null, change: null };
	expect(describeLogSeal(seal)).toBe('All 6 lines of the log are as they were sealed.');
	expect(describeLogSeal({ ...seal, state: 'unsealed', unsealed: 2 })).toContain('2 after them');
	expect(describeLogSeal({ ...seal, state: 'unsealed', intact: 0 })).toContain('Nothing');
	expect(describeLogSeal({ ...seal, state: 'broken', line: 3, change: 'edited' })).toContain(
		'line 3 was edited'
	);
	expect(describeLogSeal({ ...seal, state: 'broken', change: 'chain_missing' })).toContain('missing');
});

test('the source of a solution is described, also when it is not recorded', () => {
	expect(describeSource(createCycle('a', null, { source: '' }))).toBe('Not recorded');
	expect(describeSource(createCycle('a', null, { source: 'generated' }))).toBe('Generated here');
	expect(describeSource(createCycle('a', null, { source: 'elsewhere' }))).toBe('elsewhere');
});
