import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Stories through the built program and a real browser: two files at a time, and none is tried twice. */
export default defineConfig({
	resolve: { alias: { $lib: fileURLToPath(new URL('./src/lib', import.meta.url)) } },
	test: {
		include: ['tests/e2e/**/*.test.ts'],
		setupFiles: ['tests/e2e/harness/setup.ts'],
		environment: 'node',
		maxWorkers: 2,
		retry: 0,
		testTimeout: 240_000,
		hookTimeout: 240_000
	}
});
