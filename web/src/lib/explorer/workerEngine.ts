import type { WorkerResponse, WorkerRequest, EngineMethod } from './workerMessages';
import type { Engine, Progress } from './types';
import { EngineError, type EngineErrorCode } from './engineError';

interface PendingCall {
	done: (result: unknown) => void;
	failed: (problem: Error) => void;
	tell: ((progress: Progress) => void) | undefined;
}

/** The engine in a worker, as the page sees it. */
export function createWorkerEngine(worker: Worker): Engine {
	const waiting = new Map<number, PendingCall>();
	let next = 0;

	const settle = (id: number, how: (one: PendingCall) => void) => {
		const one = waiting.get(id);
		waiting.delete(id);
		if (one) how(one);
	};
	const failAll = (code: EngineErrorCode, message: string) => {
		for (const id of [...waiting.keys()]) settle(id, ({ failed }) => failed(new EngineError(code, message)));
	};
	worker.addEventListener('message', ({ data }: MessageEvent<WorkerResponse>) => {
		if ('progress' in data) waiting.get(data.id)?.tell?.(data.progress);
		else if ('problem' in data) {
			const { code, message } = data.problem;
			settle(data.id, ({ failed }) => failed(new EngineError(code, message)));
		} else settle(data.id, ({ done }) => done(data.result));
	});
	worker.addEventListener('error', () =>
		failAll('closed', 'The verifier could not be started, or stopped by itself.')
	);

	const ask = <T>(method: EngineMethod, args: unknown[], tell?: (progress: Progress) => void): Promise<T> =>
		new Promise<T>((done, failed) => {
			const id = next++;
			waiting.set(id, { done: done as (result: unknown) => void, failed, tell });
			const call: WorkerRequest = { id, method, args, wantsProgress: tell !== undefined };
			worker.postMessage(call);
		});

	return {
		open: (source, pinned) => ask('open', [source, pinned]),
		load: (chain, tell) => ask('load', [chain], tell),
		find: (query) => ask('find', [query]),
		detail: (chain, place) => ask('detail', [chain, place]),
		verify: (chain, tell) => ask('verify', [chain], tell),
		meta: () => ask('meta', []),
		tamper: (chain) => ask('tamper', [chain]),
		restore: (chain) => ask('restore', [chain]),
		close() {
			worker.terminate();
			failAll('closed', 'The Explorer was closed.');
		}
	};
}
