import type { Engine, Progress } from './types';
import type { StopCode } from './engineError';

/** What passes between a page and the worker that holds the engine. */
export type Method = Exclude<keyof Engine, 'close'>;
export type Call = { id: number; method: Method; args: unknown[]; wantsProgress: boolean } | { close: true };
export type Answer =
	| { id: number; progress: Progress }
	| { id: number; result: unknown }
	| { id: number; problem: { code: StopCode; message: string } };
