import { toProblem } from '$lib/api/problem';

/** What is wrong with each field, and whether that is all. */
export function splitFieldErrors<K extends string>(thrown: unknown, names: readonly K[]) {
	const problem = thrown === undefined ? undefined : toProblem(thrown);
	const wrong: Partial<Record<K, string>> = {};
	for (const { path, expected } of problem?.fields ?? []) {
		const name = names.find((known) => known === path);
		if (name) wrong[name] = `This should be ${expected}.`;
	}
	return { wrong, rest: Object.keys(wrong).length > 0 ? undefined : thrown };
}
