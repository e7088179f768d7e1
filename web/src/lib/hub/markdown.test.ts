import { expect, test } from 'vitest';
import { parseInlines, parseMarkdown } from './markdown';

const words = (text: string) => [{ kind: 'text', text }];

test('blocks are parsed by kind', () => {
	const blocks = parseMarkdown(
		'# A\nOne\ntwo.\n\n- a\n  more\n- b\n\n1. x\n2. y\n\n```\n# not a heading\n<b>\n```\n## A\n| h | i |\n|---|---|\n| 1 | `2` |'
	);
	expect(blocks).toEqual([
		{ kind: 'heading', level: 1, text: 'A', id: 'a' },
		{ kind: 'paragraph', inlines: words('One two.') },
		{ kind: 'list', isOrdered: false, items: [words('a more'), words('b')] },
		{ kind: 'list', isOrdered: true, items: [words('x'), words('y')] },
		{ kind: 'code', text: '# not a heading\n<b>' },
		{ kind: 'heading', level: 2, text: 'A', id: 'a-2' },
		{ kind: 'table', head: [words('h'), words('i')], rows: [[words('1'), [{ kind: 'code', text: '2' }]]] }
	]);
});

test('a list may follow its sentence at once', () => {
	expect(parseMarkdown('Keep two things:\n- a').map(({ kind }) => kind)).toEqual(['paragraph', 'list']);
});

test('markup stays text', () => {
	expect(parseInlines('<img src=x> **b** `<i>` [a](javascript:x)')).toEqual([
		{ kind: 'text', text: '<img src=x> ' },
		{ kind: 'strong', text: 'b' },
		{ kind: 'text', text: ' ' },
		{ kind: 'code', text: '<i>' },
		{ kind: 'text', text: ' a (javascript:x)' }
	]);
});

test('a fence without an end is code to the end', () => {
	expect(parseMarkdown('```\na')).toEqual([{ kind: 'code', text: 'a' }]);
});
