import type { Engine } from './types';
import { createWorkerEngine } from './workerEngine';

/** The engine in a worker. The build for a page that is opened from disk takes `startInPage.ts` instead. */
export function startEngine(): Engine {
	return createWorkerEngine(new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }));
}
