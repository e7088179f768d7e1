import type { Engine } from './types';
import { createEngine } from './engine';

/** The engine beside the page, in slices: a page from disk is one script, and a browser starts no worker there. */
export function startEngine(): Engine {
	return createEngine();
}
