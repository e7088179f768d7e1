import { EngineError } from './engineError';

/** Thrown where work ends because nobody wants it any more. */
export class ClosedError extends EngineError {
	constructor() {
		super('closed', 'The Explorer was closed.');
	}
}

/** Cuts long work into slices, so that whatever else waits for this thread gets its turn. */
export class Slices {
	private began = performance.now();

	constructor(
		private readonly length: number,
		private readonly stop: AbortSignal
	) {}

	/** To be called often; lets others in when the slice is used up. */
	async pause(): Promise<void> {
		if (performance.now() - this.began >= this.length) {
			await new Promise((resume) => setTimeout(resume, 0));
			this.began = performance.now();
		}
		if (this.stop.aborted) throw new ClosedError();
	}
}
