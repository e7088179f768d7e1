import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vitest/config';
import { docs } from './scripts/docs.mjs';
import { licenses } from './scripts/licenses.mjs';

/** Where the hub listens that `npm run dev` passes calls on to. */
const hub = process.env.CAPSID_HUB ?? 'http://127.0.0.1:4000';
const calls = [
	'/a2a',
	'/account',
	'/admin/',
	'/auth',
	'/bounty',
	'/task/',
	'/kg',
	'/health',
	'/openapi.json',
	'/skill.md',
	'/local'
];

/** A browser that asks for a page gets the page, also where the hub has a call of the same path. */
const pass = {
	target: hub,
	bypass: (request: { headers: Record<string, unknown>; url?: string | undefined }) =>
		String(request.headers['accept'] ?? '').includes('text/html') ? request.url : undefined
};

const { pages, worker } = licenses();

export default defineConfig({
	plugins: [sveltekit(), pages, docs()],
	server: { proxy: Object.fromEntries([...calls, '/claim'].map((path) => [path, pass])) },
	build: { target: 'es2022' },
	worker: { format: 'es', plugins: () => [worker] },
	test: { include: ['src/**/*.test.ts'], environment: 'node' }
});
