import { Problem } from '$lib/api/problem';
import { loadViewerKey } from './key';

/** A document of the local viewer, or the problem as an exception. */
export async function readLocalDocument<T>(path: string): Promise<T> {
	const headers = { accept: 'application/json', authorization: `Bearer ${loadViewerKey() ?? ''}` };
	const response = await fetch(path, { headers }).catch(() => {
		throw new Problem(
			'unreachable',
			'The local viewer does not answer.',
			'Start it again: `capsid events --web`.',
			0
		);
	});
	const body: unknown = await response.json().catch(() => undefined);
	if (!response.ok) throw Problem.fromResponse(response.status, body);
	return body as T;
}
