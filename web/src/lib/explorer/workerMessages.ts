import type { Engine, Progress } from './types';
import type { EngineErrorCode } from './engineError';

/** What passes between a page and the worker that holds the engine. */
export type EngineMethod = Exclude<keyof Engine, 'close'>;
export type WorkerRequest =
	| { id: number; method: EngineMethod; args: unknown[]; wantsProgress: boolean }
	| { close: true };
export type WorkerResponse =
	| { id: number; progress: Progress }
	| { id: number; result: unknown }
	| { id: number; problem: { code: EngineErrorCode; message: string } };
