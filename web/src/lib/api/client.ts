import createClient from 'openapi-fetch';
import { Problem } from './problem';
import type { paths } from './schema';
import { who } from './session.svelte';

/** Every call of the hub, typed by its own description. */
export const hub = createClient<paths, 'application/json'>({
	baseUrl: '/',
	headers: { accept: 'application/json' }
});

/** Here 401 is about the password in the request. */
const ASKS_PASSWORD = ['/account/password', '/auth/login'];

hub.use({
	onRequest({ request }) {
		if (who.session) request.headers.set('authorization', `Bearer ${who.session.token}`);
		return request;
	},
	onResponse({ response, schemaPath }) {
		// The hub no longer knows this session, so neither do we. A password that was mistyped ends no session.
		if (response.status === 401 && who.session && !ASKS_PASSWORD.includes(schemaPath)) who.end();
		return response;
	}
});

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The answer, or the problem as an exception. */
export async function told<T>(call: Promise<Answer<T>>): Promise<T> {
	const { data, error, response } = await call.catch(() => {
		throw Problem.offline();
	});
	if (!response.ok || data === undefined) throw Problem.of(response.status, error);
	return data;
}
