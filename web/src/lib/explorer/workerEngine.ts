import type { WorkerResponse, WorkerRequest, EngineMethod } from './workerMessages';
import type { Engine, Progress } from './types';
import { EngineError, type EngineErrorCode } from './engineError';

interface PendingCall {
	done: (result: unknown) => void;
	failed: (problem: Error) => void;
	onProgress: ((progress: Progress) => void) | undefined;
}

/** The engine in a worker, as the page sees it. */
export function createWorkerEngine(worker: Worker): Engine {
	const waiting = new Map<number, PendingCall>();
	let next = 0;

	const settleCall = (id: number, how: (one: PendingCall) => void) => {
		const one = waiting.get(id);
		waiting.delete(id);
		if (one) how(one);
	};
	const failAll = (code: EngineErrorCode, message: string) => {
		for (const id of [...waiting.keys()])
			settleCall(id, ({ failed }) => failed(new EngineError(code, message)));
	};
	worker.addEventListener('message', ({ data }: MessageEvent<WorkerResponse>) => {
		if ('progress' in data) waiting.get(data.id)?.onProgress?.(data.progress);
		else if ('problem' in data) {
			const { code, message } = data.problem;
			settleCall(data.id, ({ failed }) => failed(new EngineError(code, message)));
		} else settleCall(data.id, ({ done }) => done(data.result));
	});
	worker.addEventListener('error', () =>
		failAll('closed', 'The verifier could not be started, or stopped by itself.')
	);

	const send = <T>(
		method: EngineMethod,
		args: unknown[],
		onProgress?: (progress: Progress) => void
	): Promise<T> =>
		new Promise<T>((done, failed) => {
			const id = next++;
			waiting.set(id, { done: done as (result: unknown) => void, failed, onProgress });
			const call: WorkerRequest = { id, method, args, wantsProgress: onProgress !== undefined };
			worker.postMessage(call);
		});

	return {
		open: (source, pinned, wishes) => send('open', [source, pinned, wishes]),
		load: (chain, onProgress) => send('load', [chain], onProgress),
		find: (query) => send('find', [query]),
		detail: (chain, position) => send('detail', [chain, position]),
		verify: (chain, onProgress) => send('verify', [chain], onProgress),
		evaluate: () => send('evaluate', []),
		use: (chain) => send('use', [chain]),
		cancel: (chain) => send('cancel', [chain]),
		meta: () => send('meta', []),
		tamper: (chain) => send('tamper', [chain]),
		restore: (chain) => send('restore', [chain]),
		close() {
			worker.terminate();
			failAll('closed', 'The Explorer was closed.');
		}
	};
}
