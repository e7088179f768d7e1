import type { WorkerResponse, WorkerRequest } from './workerMessages';
import type { Progress } from './types';
import { createEngine, SLICE_MS } from './engine';
import { EngineError } from './engineError';

const engine = createEngine(SLICE_MS.worker);

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
	if ('close' in data) engine.close();
	else void handleRequest(data);
});

async function handleRequest({
	id,
	method,
	args,
	wantsProgress
}: Exclude<WorkerRequest, { close: true }>): Promise<void> {
	const post = (response: WorkerResponse) => postMessage(response);
	const onProgress = (progress: Progress) => post({ id, progress });
	const call = engine[method].bind(engine) as (...args: unknown[]) => Promise<unknown>;
	try {
		post({ id, result: await call(...args, ...(wantsProgress ? [onProgress] : [])) });
	} catch (thrown) {
		post({ id, problem: EngineError.toPlain(thrown) });
	}
}
