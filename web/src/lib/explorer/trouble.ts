import { Problem } from '$lib/api/problem';

/** What the engine could not do, with what to do about it. */
export function troubleOf(thrown: unknown): Problem {
	if (thrown instanceof Problem) return thrown;
	const message = thrown instanceof Error ? thrown.message : String(thrown);
	return new Problem('chain_unreadable', message, fixOf(message), 0);
}

function fixOf(message: string): string {
	if (/status 40[13]/.test(message))
		return 'The key is an old one: open the address that `capsid trail explore` printed last.';
	if (/cannot be reached/.test(message)) return 'Check that the program which serves it still runs.';
	if (/index\.json/.test(message)) return 'Open the folder that `capsid trail export --out` wrote.';
	return 'Read again; if it stays, ask for a whole copy.';
}
