import { WorkerPool } from './checkPool';
import { createEngine } from './engine';
import { EngineError } from './engineError';
import type { Engine, Progress } from './types';
import type { WorkerRequest, WorkerResponse } from './workerMessages';

const MAX_WORKERS = 8;

/** The part of the worker that owns the source, the fold and the index. It starts the check workers from its own script. */
export function startEngineWorker(module: Promise<WebAssembly.Module>): void {
	const engine = module.then((module) => createEngine({ module, startPool }));
	// Whoever asks first is told why.
	engine.catch(() => undefined);
	addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
		if ('close' in data) void engine.then((engine) => engine.close());
		else void answer(engine, data);
	});
}

function startPool(module: WebAssembly.Module): WorkerPool | null {
	const count = Math.min(MAX_WORKERS, Math.max(1, navigator.hardwareConcurrency || 1));
	const type = location.protocol === 'blob:' ? 'classic' : 'module';
	try {
		return new WorkerPool(
			Array.from({ length: count }, () => new Worker(location.href, { type })),
			module
		);
	} catch {
		return null;
	}
}

async function answer(
	starting: Promise<Engine>,
	{ id, method, args, wantsProgress }: Exclude<WorkerRequest, { close: true }>
): Promise<void> {
	const post = (response: WorkerResponse) => postMessage(response);
	const onProgress = (progress: Progress) => post({ id, progress });
	try {
		const engine = await starting;
		const call = engine[method].bind(engine) as (...args: unknown[]) => Promise<unknown>;
		post({ id, result: await call(...args, ...(wantsProgress ? [onProgress] : [])) });
	} catch (thrown) {
		post({ id, problem: EngineError.toPlain(thrown) });
	}
}
