import { startCheckWorker, type CheckRequest } from './checkPool';
import { startEngineWorker } from './engineWorker';
import { compileVerifier } from './verifierModule';

/** One script for both kinds of workers: the first message says which one this is. */
addEventListener(
	'message',
	({ data }: MessageEvent<CheckRequest | { engine: true }>) => {
		if ('engine' in data) startEngineWorker(compileVerifier());
		else startCheckWorker(data);
	},
	{ once: true }
);
