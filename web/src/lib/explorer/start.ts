import type { Engine } from './types';
import { createWorkerEngine } from './workerEngine';

/** The engine in a worker. The build for a page that is opened from disk takes `startInPage.ts` instead. */
export function startEngine(): Engine {
	const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
	worker.postMessage({ engine: true });
	return createWorkerEngine(worker);
}
