import { startEngine } from '$lib/explorer/start';
import type { Engine } from './contract';

/** The engine as the pages use it: in a worker, or beside the page where that was opened from disk. */
export function createEngine(): Engine {
	return startEngine();
}
