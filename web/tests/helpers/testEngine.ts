import { readFileSync } from 'node:fs';
import { createEngine } from '$lib/explorer/engine';
import type { Engine } from '$lib/explorer/types';

/** The module that `scripts/pages module` built from the crates of the program. */
export const verifierModule = new WebAssembly.Module(readFileSync('module/verdict.wasm'));

/** For tests: the engine with the program's verifier, in this thread. */
export function createTestEngine(): Engine {
	return createEngine({ module: verifierModule });
}
