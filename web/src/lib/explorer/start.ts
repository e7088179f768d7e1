/** Starts the worker of the engine. A page that is opened from disk has none: its build takes `start-none.ts` instead. */
export function startWorker(): Worker | null {
	if (typeof Worker === 'undefined') return null;
	return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}
