import type { Slices } from './slices';
import { Verifier, type KeyInput } from './verifier';

/** What a check worker is told. The buffer goes there and comes back. */
export type CheckRequest =
	| { module: WebAssembly.Module }
	| { keys: KeyInput[] }
	| { words: string }
	| { seq: number; work: 'check' | 'search'; buffer: ArrayBuffer; length: number };
export interface CheckResponse {
	seq: number;
	output: Uint8Array<ArrayBuffer>;
	buffer: ArrayBuffer;
}

/** A chunk that was worked on: the result as JSON in bytes, and the buffer to be used again. */
export interface ChunkResult {
	output: Uint8Array;
	buffer: ArrayBuffer;
}

/** Where chunks of records are checked. */
export interface CheckPool {
	/** How many chunks may be under way at once. */
	readonly width: number;
	setKeys(keys: KeyInput[]): void;
	setWords(words: string): void;
	run(work: 'check' | 'search', buffer: ArrayBuffer, length: number): Promise<ChunkResult>;
	close(): void;
}

const IN_FLIGHT = 2;

/** Check workers, two chunks each: one is worked on while the next is on its way. */
export class WorkerPool implements CheckPool {
	readonly width: number;
	readonly #load: number[];
	readonly #pending = new Map<
		number,
		{ done: (result: ChunkResult) => void; failed: (why: Error) => void }
	>();
	#seq = 0;

	constructor(
		private readonly workers: Worker[],
		module: WebAssembly.Module
	) {
		this.width = workers.length * IN_FLIGHT;
		this.#load = workers.map(() => 0);
		for (const [at, worker] of workers.entries()) {
			worker.onmessage = ({ data }: MessageEvent<CheckResponse>) => {
				this.#load[at] = (this.#load[at] ?? 1) - 1;
				const one = this.#pending.get(data.seq);
				this.#pending.delete(data.seq);
				one?.done(data);
			};
			worker.onerror = () => this.#failAll();
			this.#send(worker, { module });
		}
	}

	setKeys(keys: KeyInput[]): void {
		for (const worker of this.workers) this.#send(worker, { keys });
	}

	setWords(words: string): void {
		for (const worker of this.workers) this.#send(worker, { words });
	}

	run(work: 'check' | 'search', buffer: ArrayBuffer, length: number): Promise<ChunkResult> {
		const at = this.#load.indexOf(Math.min(...this.#load));
		const worker = this.workers[at];
		if (!worker) return Promise.reject(new Error('There is no check worker.'));
		this.#load[at] = (this.#load[at] ?? 0) + 1;
		const seq = this.#seq++;
		return new Promise((done, failed) => {
			this.#pending.set(seq, { done, failed });
			this.#send(worker, { seq, work, buffer, length }, [buffer]);
		});
	}

	close(): void {
		for (const worker of this.workers) worker.terminate();
		this.#failAll();
	}

	#send(worker: Worker, request: CheckRequest, transfer: Transferable[] = []): void {
		worker.postMessage(request, transfer);
	}

	#failAll(): void {
		for (const { failed } of this.#pending.values()) failed(new Error('A check worker stopped.'));
		this.#pending.clear();
	}
}

/** The same in this thread, in slices. */
export class LocalPool implements CheckPool {
	readonly width = 1;

	constructor(
		private readonly verifier: Verifier,
		private readonly slices: Slices
	) {}

	setKeys(keys: KeyInput[]): void {
		this.verifier.setKeys(keys);
	}

	setWords(words: string): void {
		this.verifier.setWords(words);
	}

	async run(work: 'check' | 'search', buffer: ArrayBuffer, length: number): Promise<ChunkResult> {
		const output = this.verifier.run(work, new Uint8Array(buffer, 0, length));
		await this.slices.pause();
		return { output, buffer };
	}

	close(): void {
		// Nothing runs beside this thread.
	}
}

/** The part of a check worker. */
export function startCheckWorker(first: CheckRequest): void {
	let verifier: Verifier | null = null;
	const answer = (request: CheckRequest) => {
		if ('module' in request) verifier = new Verifier(request.module);
		else if ('keys' in request) verifier?.setKeys(request.keys);
		else if ('words' in request) verifier?.setWords(request.words);
		else if (verifier) {
			const { seq, work, buffer, length } = request;
			const output = verifier.run(work, new Uint8Array(buffer, 0, length)) as Uint8Array<ArrayBuffer>;
			const response: CheckResponse = { seq, output, buffer };
			postMessage(response, { transfer: [output.buffer, buffer] });
		}
	};
	addEventListener('message', ({ data }: MessageEvent<CheckRequest>) => answer(data));
	answer(first);
}
