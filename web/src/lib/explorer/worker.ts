import type { Answer, Call } from './workerMessages';
import type { Progress } from './types';
import { createEngine, SLICE } from './engine';
import { Stopped } from './engineError';

const engine = createEngine(SLICE.worker);

addEventListener('message', ({ data }: MessageEvent<Call>) => {
	if ('close' in data) engine.close();
	else void answer(data);
});

async function answer({ id, method, args, wantsProgress }: Exclude<Call, { close: true }>): Promise<void> {
	const say = (answer: Answer) => postMessage(answer);
	const tell = (progress: Progress) => say({ id, progress });
	const call = engine[method].bind(engine) as (...args: unknown[]) => Promise<unknown>;
	try {
		say({ id, result: await call(...args, ...(wantsProgress ? [tell] : [])) });
	} catch (thrown) {
		say({ id, problem: Stopped.plain(thrown) });
	}
}
