import type { Engine } from './contract';
import { remoteEngine } from './remote';

/** The engine in a worker. The build for a page that is opened from disk takes `start-beside.ts` instead. */
export function startEngine(): Engine {
	return remoteEngine(new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }));
}
