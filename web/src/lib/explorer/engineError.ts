/** Why the engine could not go on. The code says what helps; the sentence is for people. */
export type EngineErrorCode =
	| 'key_refused'
	| 'unreachable'
	| 'no_bundle'
	| 'chain_missing'
	| 'chain_unreadable'
	| 'closed';

export class EngineError extends Error {
	constructor(
		readonly code: EngineErrorCode,
		message: string
	) {
		super(message);
	}

	/** What was thrown, in a form that passes from a worker to its page. */
	static toPlain(thrown: unknown): { code: EngineErrorCode; message: string } {
		if (thrown instanceof EngineError) return { code: thrown.code, message: thrown.message };
		return { code: 'chain_unreadable', message: thrown instanceof Error ? thrown.message : String(thrown) };
	}
}
