/** What is wrong with one field of a request. */
export interface FieldProblem {
	path: string;
	expected: string;
}

/** What went wrong, in the words of the hub: a stable code, a sentence, a fix, and which fields it is about. */
export class Problem extends Error {
	constructor(
		readonly code: string,
		message: string,
		readonly fix: string,
		readonly status: number,
		readonly fields: FieldProblem[] = []
	) {
		super(message);
	}

	static offline(): Problem {
		return new Problem('unreachable', 'The hub does not answer.', 'Check that it runs: `capsid up`.', 0);
	}

	/** Reads the body of a refusal, whatever it is. */
	static fromResponse(status: number, body: unknown): Problem {
		const parsed = isObject(body) ? body : {};
		const correction = isObject(parsed['correction']) ? parsed['correction'] : {};
		const text = (from: Record<string, unknown>, key: string) =>
			typeof from[key] === 'string' ? from[key] : undefined;
		return new Problem(
			text(parsed, 'error') ?? `http_${status}`,
			text(correction, 'problem') ?? `The hub answered ${status} without a reason.`,
			text(correction, 'fix') ?? 'Try again in a moment.',
			status,
			readFieldProblems(parsed['details'])
		);
	}
}

function readFieldProblems(details: unknown): FieldProblem[] {
	const parsed = Array.isArray(details) ? details.filter(isObject) : [];
	return parsed.map(({ path, expected }) => ({ path: String(path ?? ''), expected: String(expected ?? '') }));
}

/** What was thrown, as a problem. */
export function toProblem(thrown: unknown): Problem {
	if (thrown instanceof Problem) return thrown;
	return thrown instanceof TypeError
		? Problem.offline()
		: new Problem('unexpected', String(thrown), 'Load the page again.', 0);
}

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
