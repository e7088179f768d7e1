import { expect, it } from 'vitest';
import type { WorkerResponse, WorkerRequest } from './workerMessages';
import { createWorkerEngine } from './workerEngine';

/** A worker whose answers the test sends. */
class Puppet extends EventTarget {
	calls: WorkerRequest[] = [];
	isEnded = false;
	postMessage(call: WorkerRequest): void {
		this.calls.push(call);
	}
	answer(data: WorkerResponse): void {
		this.dispatchEvent(new MessageEvent('message', { data }));
	}
	terminate(): void {
		this.isEnded = true;
	}
}

it('responses are matched to their requests in any order', async () => {
	const puppet = new Puppet();
	const engine = createWorkerEngine(puppet as unknown as Worker);
	const steps: number[] = [];
	const verifying = engine.verify('a', ({ done }) => steps.push(done));
	const tampering = engine.tamper('b');
	const restoring = engine.restore('c');
	puppet.answer({ id: 0, progress: { chain: 'a', done: 3, total: 9, bytes: 1 } });
	puppet.answer({ id: 1, result: 7 });
	puppet.answer({ id: 2, problem: { code: 'no_bundle', message: 'no' } });
	puppet.answer({ id: 0, result: 'verdict' });
	puppet.answer({ id: 0, progress: { chain: 'a', done: 4, total: 9, bytes: 1 } });
	expect(await tampering).toBe(7);
	expect(await verifying).toBe('verdict');
	expect(steps).toEqual([3]);
	await expect(restoring).rejects.toMatchObject({ code: 'no_bundle', message: 'no' });
	expect(puppet.calls.map((call) => 'method' in call && call.wantsProgress)).toEqual([true, false, false]);
});

it('pending calls fail when the worker ends', async () => {
	const puppet = new Puppet();
	const engine = createWorkerEngine(puppet as unknown as Worker);
	const [one, other] = [engine.meta(), engine.load('a')];
	puppet.dispatchEvent(new Event('error'));
	await expect(one).rejects.toThrow('could not be started');
	await expect(other).rejects.toThrow('could not be started');
	const last = engine.meta();
	engine.close();
	await expect(last).rejects.toThrow('closed');
	expect(puppet.isEnded).toBe(true);
});
