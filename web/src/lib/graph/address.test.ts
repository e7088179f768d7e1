import { expect, test } from 'vitest';
import { addressOf, callsOf, filtered, isAsked, MOST_OPEN, readView, startOf, switched } from './address';

const read = (text: string) => readView(new URLSearchParams(text));

test('an address is read and written back', () => {
	for (const text of [
		'',
		'q=time+out',
		'q=x&category=repair&environment=linux_x64&since=2026-01-02&at=e_1&kinds=gene,signal&open=e_2,e_3',
		'around=sha256%3A00',
		'from=signal%3Atimeout&to=e_9'
	])
		expect(addressOf(read(text))).toBe(text ? `/graph?${text}` : '/graph');
	expect(addressOf(read('q=+&kinds=,&open=e_1,e_1,&odd=1'))).toBe('/graph?open=e_1');
});

test('an address with thousands of things opens some', () => {
	const many = Array.from({ length: 5000 }, (_, place) => `e_${place}`).join(',');
	expect(read(`open=${many}`).open).toHaveLength(MOST_OPEN);
});

test('other words begin anew and keep the filters', () => {
	const view = read('q=a&category=repair&open=e_1&at=e_2&from=e_1&to=e_2');
	expect(startOf(view, { q: 'b & c' })).toBe('/graph?q=b+%26+c&category=repair');
	expect(startOf(view, { around: 'e_5' })).toBe('/graph?around=e_5&category=repair');
	expect(filtered(view, { category: '' })).toBe('/graph?q=a&from=e_1&to=e_2&open=e_1');
});

test('kinds are switched one by one, and all of them is the same as none named', () => {
	const all = ['gene', 'node', 'signal'];
	expect(switched([], 'node', all)).toEqual(['gene', 'signal']);
	expect(switched(['gene', 'signal'], 'node', all)).toEqual([]);
	expect(switched(['gene', 'signal'], 'signal', all)).toEqual(['gene']);
	expect(switched(['gene'], 'gene', all)).toEqual([]);
});

test('the hub is asked for the words, then for what was opened, then for the way', () => {
	const calls = callsOf(read('q=timeout&kinds=gene&open=e_1&from=e_1&to=e_2&since=2026-01-02'));
	expect(calls.map(({ key }) => key)).toEqual([
		'/kg/graph?q=timeout&kinds=gene&since=2026-01-02',
		'/kg/graph?around=e_1&kinds=gene&since=2026-01-02',
		'/kg/path?from=e_1&to=e_2'
	]);
	expect(calls.map(({ anchors }) => anchors)).toEqual([undefined, ['e_1'], undefined]);
	const keys = (text: string) => callsOf(read(text)).map(({ key }) => key);
	expect(keys('from=e_1&category=repair')).toEqual(['/kg/graph?category=repair']);
	expect(keys('from=a&to=b')).toEqual(['/kg/path?from=a&to=b']);
	expect(keys('')).toEqual(['/kg/graph?']);
	expect([isAsked(read('from=e_1')), isAsked(read('from=a&to=b')), isAsked(read('q=a'))]).toEqual([
		false,
		true,
		true
	]);
});

test('what was opened is asked for once, and all that is new at once', () => {
	const asked = new Set<string>();
	const ask = (text: string) => {
		const keys = callsOf(read(text), (key) => asked.has(key)).map(({ key }) => key);
		const news = keys.filter((key) => !asked.has(key));
		for (const key of keys) asked.add(key);
		return [keys.length, ...news.map((key) => key.replace('/kg/graph?', ''))];
	};
	expect(ask('q=x&open=a,b,c')).toEqual([2, 'q=x', 'around=a%2Cb%2Cc&limit=300']);
	expect(ask('q=x&open=a,b,c,d')).toEqual([3, 'around=d']);
	expect(ask('q=x&open=a,b,c,d,e')).toEqual([4, 'around=e']);
	expect(ask('q=x&open=a,b,c,d')).toEqual([3]);
	expect(ask('q=x&open=e,d')).toEqual([3]);
	expect(ask('q=x&category=repair&open=a,b,c,d')).toEqual([
		2,
		'q=x&category=repair',
		'around=a%2Cb%2Cc%2Cd&category=repair&limit=300'
	]);
});
