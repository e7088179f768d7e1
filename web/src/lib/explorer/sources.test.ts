import { describe, expect, test } from 'vitest';
import { parseBundleBase, rebaseOnIndex } from './sources';

describe('a chosen folder', () => {
	test('is named from where its index lies', () => {
		const files = { 'b/index.json': 1, 'b/a-1.json': 2, 'other.txt': 3 };
		expect(rebaseOnIndex(files)).toEqual({ 'index.json': 1, 'a-1.json': 2 });
	});

	test('may be the files alone, or hold a bundle within a bundle', () => {
		expect(rebaseOnIndex({ 'index.json': 1, 'meta.json': 2 })).toEqual({ 'index.json': 1, 'meta.json': 2 });
		expect(rebaseOnIndex({ 'a/old/index.json': 1, 'a/index.json': 2 })?.['index.json']).toBe(2);
	});

	test('without an index is no bundle', () => expect(rebaseOnIndex({ 'a/notindex.json': 1 })).toBeNull());
});

describe('an address', () => {
	const base = (address: string) => parseBundleBase(address, 'http://hub:4000');

	test('is a folder of this server', () => {
		expect(base('/b')).toBe('/b/');
		expect(base('/b/index.json')).toBe('/b/');
		expect(base('http://hub:4000/b/')).toBe('/b/');
	});

	test('of another server is refused', () => {
		for (const address of ['//evil/b/', 'https://hub:4000/b/', 'javascript:alert(1)', 'http://', 'data:,x'])
			expect(base(address)).toBeNull();
	});
});
