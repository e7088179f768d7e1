import { hub, told } from '$lib/api/client';
import type { Call } from './address';
import type { Drawing } from './shapes';

type Ask = (
	path: string,
	options: { params: { query: Record<string, string> } }
) => Promise<{ data?: Drawing; error?: unknown; response: Response }>;

export const draw = ({ path, query }: Call): Promise<Drawing> =>
	told((hub.GET as unknown as Ask)(path, { params: { query } }));
