import { vi } from 'vitest';
import type { BundleSource } from '$lib/explorer/types';

/** A local viewer that serves these files, for the engine to open. */
export const LOCAL_SOURCE: BundleSource = { kind: 'local', base: '/local/trail', key: 'k' };

export function serveFiles(files: Record<string, string>): void {
	vi.stubGlobal('fetch', async (address: string) => {
		const text = files[decodeURIComponent(address.slice('/local/trail/'.length))];
		return text === undefined ? new Response('', { status: 404 }) : new Response(text);
	});
}
