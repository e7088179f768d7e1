import { expect, test } from 'vitest';
import {
	listActiveFilters,
	buildBrowseHref,
	listOtherFilters,
	buildAssetsRequest,
	parseBrowseQuery
} from './query';

const read = (text: string) => parseBrowseQuery(new URLSearchParams(text));

test('an address is read and written back', () => {
	for (const text of ['', 'q=time+out', 'type=Gene&status=candidate&label=vacuous&sort=ranked&cursor=ab12'])
		expect(buildBrowseHref(read(text), { cursor: read(text).cursor })).toBe(
			text ? `/browse?${text}` : '/browse'
		);
	expect(buildBrowseHref(read('status=promoted&sort=newest&q=+'))).toBe('/browse');
});

test('a changed filter begins at the first page', () => {
	expect(buildBrowseHref(read('type=Gene&cursor=ab'), { status: 'stale' })).toBe(
		'/browse?type=Gene&status=stale'
	);
	expect(buildBrowseHref(read('signal=a%26b'), { cursor: 'c' })).toBe('/browse?signal=a%26b&cursor=c');
});

test('a query with words searches, any other lists', () => {
	expect(buildAssetsRequest(read('q=retry&signal=TimeoutError&sort=ranked'))).toEqual({
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
	expect(buildAssetsRequest(read('label=real')).query).toMatchObject({
		label: 'real',
		sort: 'newest',
		status: 'promoted'
	});
});

test('capsules are shown unless another type or all are asked for', () => {
	expect(buildAssetsRequest(read('')).query['type']).toBe('Capsule');
	expect(buildAssetsRequest(read('type=Gene')).query['type']).toBe('Gene');
	expect(buildAssetsRequest(read('type=all')).query['type']).toBeUndefined();
	expect(buildAssetsRequest(read('q=x&type=all')).query['type']).toBeUndefined();
});

test('a new search keeps the other filters', () => {
	expect(listOtherFilters(read('q=x&type=all&category=repair&sort=ranked&cursor=ab'))).toEqual({
		type: 'all',
		category: 'repair',
		sort: 'ranked'
	});
});

test('each active filter has a link that removes it', () => {
	expect(listActiveFilters(read('type=Gene&status=stale&signal=x'))).toEqual([
		{ name: 'status', value: 'stale', without: '/browse?type=Gene&signal=x' },
		{ name: 'signal', value: 'x', without: '/browse?type=Gene&status=stale' }
	]);
	expect(listActiveFilters(read('q=x&category=repair')).map(({ name }) => name)).toEqual(['q']);
});
