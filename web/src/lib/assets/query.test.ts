import { expect, test } from 'vitest';
import { active, addressOf, callOf, readQuery } from './query';

const read = (text: string) => readQuery(new URLSearchParams(text));

test('an address is read and written back', () => {
	for (const text of ['', 'q=time+out', 'type=Gene&status=candidate&label=vacuous&sort=ranked&cursor=ab12'])
		expect(addressOf(read(text), { cursor: read(text).cursor })).toBe(text ? `/browse?${text}` : '/browse');
	expect(addressOf(read('status=promoted&sort=newest&q=+'))).toBe('/browse');
});

test('a changed filter begins at the first page', () => {
	expect(addressOf(read('type=Gene&cursor=ab'), { status: 'stale' })).toBe('/browse?type=Gene&status=stale');
	expect(addressOf(read('signal=a%26b'), { cursor: 'c' })).toBe('/browse?signal=a%26b&cursor=c');
});

test('words are searched and the rest is listed', () => {
	expect(callOf(read('q=retry&signal=TimeoutError&sort=ranked'))).toEqual({
		isSearch: true,
		query: {
			q: 'retry',
			signals: 'TimeoutError',
			status: 'promoted',
			type: undefined,
			cursor: undefined,
			limit: 20
		}
	});
	expect(callOf(read('label=real')).query).toMatchObject({
		label: 'real',
		sort: 'newest',
		status: 'promoted'
	});
});

test('filters that are on can be taken off one by one', () => {
	expect(active(read('type=Gene&signal=x'))).toEqual([
		{ name: 'type', value: 'Gene', without: '/browse?signal=x' },
		{ name: 'signal', value: 'x', without: '/browse?type=Gene' }
	]);
	expect(active(read('q=x&category=repair')).map(({ name }) => name)).toEqual(['q']);
});
