import { startCheckWorker, type CheckRequest } from './checkPool';
import { createEngine } from './engine';
import { startEngineWorker } from './engineWorker';
import type { Engine } from './types';
import { compileVerifier } from './verifierModule';
import { createWorkerEngine } from './workerEngine';

/** The script of this page, which is also that of its workers: a page from disk is one file. */
const script = typeof document === 'undefined' ? null : document.currentScript?.textContent;

/** How long a worker may take to say that it runs. */
const PATIENCE_MS = 3000;

/** The engine in a worker where the browser starts one from the page's own script, else beside the page, in slices. */
export async function startSingleEngine(): Promise<Engine> {
	const module = await compileVerifier();
	const worker = script ? await startWorker(script, module) : null;
	return worker ? createWorkerEngine(worker) : createEngine({ module });
}

function startWorker(script: string, module: WebAssembly.Module): Promise<Worker | null> {
	return new Promise((done) => {
		try {
			const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
			const giveUp = () => {
				worker.terminate();
				done(null);
			};
			const timer = setTimeout(giveUp, PATIENCE_MS);
			worker.addEventListener('error', giveUp, { once: true });
			worker.addEventListener(
				'message',
				() => {
					clearTimeout(timer);
					done(worker);
				},
				{ once: true }
			);
			worker.postMessage({ engine: module });
		} catch {
			done(null);
		}
	});
}

/** What the script does where it runs as a worker. */
export function startAsWorker(): void {
	addEventListener(
		'message',
		({ data }: MessageEvent<CheckRequest | { engine: WebAssembly.Module }>) => {
			if (!('engine' in data)) return startCheckWorker(data);
			startEngineWorker(Promise.resolve(data.engine));
			postMessage({ id: -1, result: 'ready' });
		},
		{ once: true }
	);
}
