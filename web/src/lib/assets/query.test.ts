import { expect, test } from 'vitest';
import { active, addressOf, beside, callOf, readQuery } from './query';

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
			type: 'Capsule',
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

test('capsules are shown unless another type or all are asked for', () => {
	expect(callOf(read('')).query['type']).toBe('Capsule');
	expect(callOf(read('type=Gene')).query['type']).toBe('Gene');
	expect(callOf(read('type=all')).query['type']).toBeUndefined();
	expect(callOf(read('q=x&type=all')).query['type']).toBeUndefined();
});

test('other words leave the filters as they are', () => {
	expect(beside(read('q=x&type=all&category=repair&sort=ranked&cursor=ab'))).toEqual({
		type: 'all',
		category: 'repair',
		sort: 'ranked'
	});
});

test('filters that are on can be taken off one by one', () => {
	expect(active(read('type=Gene&status=stale&signal=x'))).toEqual([
		{ name: 'status', value: 'stale', without: '/browse?type=Gene&signal=x' },
		{ name: 'signal', value: 'x', without: '/browse?type=Gene&status=stale' }
	]);
	expect(active(read('q=x&category=repair')).map(({ name }) => name)).toEqual(['q']);
});
