// Pictures of every page, filled and empty, light and dark, on small and large screens, into screenshots/.
// Usage: npm run screenshots [-- part-of-a-name]
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { module } = await runnerImport(here('../tests/e2e/harness/screenshots.ts'), {
	configFile: false,
	resolve: { alias: { $lib: here('../src/lib') } }
});
await module.captureAll(here('../screenshots'), process.argv[2] ?? '');
