import { afterEach, expect, it, vi } from 'vitest';
import { openFiles, readText } from './files';

afterEach(() => void vi.unstubAllGlobals());
const never = new AbortController().signal;

it('files of a folder and of a page are found by their names alone', async () => {
	for (const files of [
		openFiles({ kind: 'folder', files: { 'a.json': new Blob(['{}']) } }, never),
		openFiles({ kind: 'page', files: { 'a.json': '{}' } }, never)
	]) {
		expect(await readText(files, 'a.json')).toBe('{}');
		expect(await readText(files, 'constructor')).toBeNull();
		expect([files.has('a.json'), files.has('b.json')]).toEqual([true, false]);
	}
});

it('requests to the local viewer carry its key, and names are one part of the path', async () => {
	const fetch = vi.fn(async () => new Response('{}'));
	vi.stubGlobal('fetch', fetch);
	const files = openFiles({ kind: 'local', base: '/local/trail', key: 'secret' }, never);
	expect(await readText(files, 'a/../b?.json')).toBe('{}');
	const expected = expect.objectContaining({ headers: { authorization: 'Bearer secret' } });
	expect(fetch).toHaveBeenCalledWith('/local/trail/a%2F..%2Fb%3F.json', expected);
});

it('a missing file is null, and a file that cannot be fetched is an error', async () => {
	const files = openFiles({ kind: 'url', base: '/b/' }, never);
	vi.stubGlobal('fetch', async () => new Response('', { status: 404 }));
	expect(await readText(files, 'a.json')).toBeNull();
	vi.stubGlobal('fetch', async () => new Response('', { status: 401 }));
	await expect(readText(files, 'a.json')).rejects.toThrow('401');
	vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no way')));
	await expect(readText(files, 'a.json')).rejects.toThrow('cannot be reached');
});
