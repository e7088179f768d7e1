import { startWorker } from '$lib/explorer/start';
import type { Engine } from './contract';
import { createEngine as createBeside } from './engine';
import { remoteEngine } from './remote';

/** The engine in a worker where there can be one, and else beside the page, in slices. */
export function createEngine(): Engine {
	const worker = startWorker();
	return worker ? remoteEngine(worker) : createBeside();
}
