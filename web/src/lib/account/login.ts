import { hub, unwrapResponse } from '$lib/api/client';
import { auth } from '$lib/api/session.svelte';

export type LoginMode = 'login' | 'register' | 'welcome';

/** Logs in, or makes an account and is logged in. `key` is that of the welcome link. */
export async function logIn(as: LoginMode, email: string, password: string, key = ''): Promise<void> {
	const body = { email: email.trim(), password };
	const send = {
		login: () => hub.POST('/auth/login', { body }),
		register: () => hub.POST('/auth/register', { body }),
		welcome: () => hub.POST('/auth/welcome', { body: { ...body, key } })
	};
	const session = await unwrapResponse(send[as]());
	const { token, expires_at, user } = session;
	auth.startSession({ token, expires_at, email: user.email, role: user.role });
}

/** Ends the session here and at the hub. Here it ends whatever the hub says. */
export async function logOut(): Promise<void> {
	try {
		await hub.POST('/auth/logout');
	} catch {
		// A hub that cannot be reached forgets the session when its time is over.
	}
	auth.endSession();
}

/** Whether everybody can register here. If the hub does not answer, the form is shown and the hub decides. */
export async function isRegistrationOpen(): Promise<boolean> {
	try {
		const policy = await unwrapResponse(hub.GET('/a2a/policy'));
		return policy.identity?.open_registration !== false;
	} catch {
		return true;
	}
}
