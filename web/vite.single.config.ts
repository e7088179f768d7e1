import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { noticeAtHead } from './scripts/licenses.mjs';

const lib = (path: string) => fileURLToPath(new URL(`src/lib/${path}`, import.meta.url)).replace(/\/$/, '');

/**
 * The Explorer as one script and one style sheet, for a page that is opened from disk: a browser loads no modules
 * from there. The program puts both, and the chains, into one file.
 */
export default defineConfig({
	plugins: [svelte(), noticeAtHead()],
	publicDir: false,
	resolve: {
		alias: {
			$lib: lib('')
		}
	},
	build: {
		outDir: 'build/single',
		target: 'es2022',
		emptyOutDir: true,
		cssCodeSplit: false,
		lib: {
			entry: 'src/lib/explorer/single.ts',
			formats: ['iife'],
			name: 'capsid',
			fileName: () => 'explorer.js',
			cssFileName: 'explorer'
		}
	}
});
