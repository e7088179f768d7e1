import { expect, test } from 'vitest';
import { createSample, listSchemaRows, describeType } from './schema';

const all = {
	Word: { type: 'string', enum: ['a', 'b'] },
	Part: {
		type: 'object',
		required: ['name'],
		properties: {
			name: { type: 'string', description: 'What it is\n called.', maxLength: 5 },
			word: { $ref: '#/components/schemas/Word' }
		}
	},
	Whole: {
		allOf: [
			{ $ref: '#/components/schemas/Part' },
			{
				type: 'object',
				required: ['parts'],
				properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } } }
			}
		]
	},
	Self: { type: 'object', properties: { self: { $ref: '#/components/schemas/Self' } } }
};
const whole = { $ref: '#/components/schemas/Whole' };

test('a schema becomes rows', () => {
	expect(
		listSchemaRows(whole, all).map(({ path, type, isRequired }) => `${path}: ${type}${isRequired ? '!' : ''}`)
	).toEqual([
		'name: string!',
		'word: "a" or "b"',
		'parts: list of Part!',
		'parts[].name: string!',
		'parts[].word: "a" or "b"'
	]);
	expect(listSchemaRows(whole, all)[0]!.about).toBe('What it is called. (characters, at most 5)');
});

test('types are described in words', () => {
	expect(describeType({ type: ['string', 'null'] }, all)).toBe('string or null');
	expect(describeType({ oneOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] }, all)).toBe(
		'Part or null'
	);
	expect(describeType({}, all)).toBe('anything');
});

test('a sample fits its schema, and a recursive schema ends', () => {
	expect(createSample(whole, all)).toEqual({ name: 'text', word: 'a', parts: [{ name: 'text', word: 'a' }] });
	expect(createSample({ type: 'integer', example: 7 }, all)).toBe(7);
	expect(listSchemaRows({ $ref: '#/components/schemas/Self' }, all)).toHaveLength(4);
	expect(JSON.stringify(createSample({ $ref: '#/components/schemas/Self' }, all)).length).toBeLessThan(100);
});
