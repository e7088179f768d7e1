import { expect, test } from 'vitest';
import { formatCurl, searchCalls, parseReference } from './document';

const reference = parseReference({
	info: { title: 'Hub', version: '1' },
	paths: {
		'/a/{id}': {
			get: {
				operationId: 'get_a',
				tags: ['things'],
				summary: 'Shows one.',
				parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
				responses: { '200': { content: { 'application/json': { schema: { type: 'object' } } } }, '404': {} }
			}
		},
		'/b': {
			post: {
				tags: ['acts'],
				summary: "Does what it's told.",
				requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/B' } } } },
				responses: {}
			}
		}
	},
	components: { schemas: { B: { type: 'object', properties: { why: { type: 'string', example: "it's" } } } } }
});

test('a description becomes calls', () => {
	expect(reference.calls.map(({ id, method, path, tag }) => [id, method, path, tag])).toEqual([
		['get_a', 'GET', '/a/{id}', 'things'],
		['post/b', 'POST', '/b', 'acts']
	]);
	expect(reference.calls[0]!.answers.map(({ status, type }) => [status, type])).toEqual([
		['200', 'application/json'],
		['404', '']
	]);
	expect(parseReference(null).calls).toEqual([]);
});

test('calls are found by all words, and grouped', () => {
	expect(searchCalls(reference.calls, '').map(({ tag }) => tag)).toEqual(['acts', 'things']);
	expect(searchCalls(reference.calls, 'get SHOWS').map(({ calls }) => calls[0]!.id)).toEqual(['get_a']);
	expect(searchCalls(reference.calls, 'get nothing')).toEqual([]);
});

test('a call is a command that a shell takes', () => {
	expect(formatCurl(reference.calls[0]!, 'http://hub')).toBe("curl 'http://hub/a/{id}'");
	expect(formatCurl(reference.calls[1]!, 'http://hub')).toContain(`"why": "it'\\''s"`);
});
