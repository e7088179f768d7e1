import createClient from 'openapi-fetch';
import { Problem } from './problem';
import type { paths } from './schema';
import { auth } from './session.svelte';

/** Every call of the hub, typed by its own description. */
export const hub = createClient<paths, 'application/json'>({
	baseUrl: '/',
	headers: { accept: 'application/json' }
});

/** Here 401 is about the password in the request. */
const PASSWORD_PATHS = ['/account/password', '/auth/login'];

hub.use({
	onRequest({ request }) {
		if (auth.session) request.headers.set('authorization', `Bearer ${auth.session.token}`);
		return request;
	},
	onResponse({ response, schemaPath }) {
		// The hub no longer knows this session, so neither do we. A password that was mistyped ends no session.
		if (response.status === 401 && auth.session && !PASSWORD_PATHS.includes(schemaPath)) auth.endSession();
		return response;
	}
});

type ApiResult<T> = { data?: T; error?: unknown; response: Response };

/** The answer, or the problem as an exception. */
export async function unwrapResponse<T>(call: Promise<ApiResult<T>>): Promise<T> {
	const { data, error, response } = await call.catch(() => {
		throw Problem.offline();
	});
	if (!response.ok || data === undefined) throw Problem.fromResponse(response.status, error);
	return data;
}
