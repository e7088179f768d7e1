import { Problem } from '$lib/api/problem';
import { EngineError, type EngineErrorCode } from './engineError';

const READ_AGAIN = 'Refresh; if the error stays, ask for a complete copy.';
const FIXES: Record<EngineErrorCode, string> = {
	key_refused: 'The key is an old one: open the address that `capsid trail explore` printed last.',
	unreachable: 'Check that the program which serves it still runs.',
	no_bundle: 'Open the folder that `capsid trail export --out` wrote.',
	chain_missing: READ_AGAIN,
	chain_unreadable: READ_AGAIN,
	closed: 'Open it again.'
};

/** What the engine could not do, with what to do about it. */
export function toEngineProblem(thrown: unknown): Problem {
	if (thrown instanceof Problem) return thrown;
	const { code, message } = EngineError.toPlain(thrown);
	return new Problem(code, message, FIXES[code], 0);
}
