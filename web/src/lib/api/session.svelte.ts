/**
 * Who is logged in.
 *
 * The token is in the storage of this origin and is sent in a header. A cookie would reach every port of the
 * same host, and would be sent by pages of others too.
 */
const STORAGE_KEY = 'capsid.session';

export interface Session {
	token: string;
	email: string;
	role: string;
	expires_at: string;
}

function loadSession(): Session | undefined {
	try {
		const session = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? 'null') as Session | null;
		return session && Date.parse(session.expires_at) > Date.now() ? session : undefined;
	} catch {
		return undefined;
	}
}

class AuthState {
	session = $state<Session | undefined>(loadSession());

	startSession(session: Session) {
		this.session = session;
		localStorage.setItem(STORAGE_KEY, JSON.stringify(session));
	}

	endSession() {
		this.session = undefined;
		localStorage.removeItem(STORAGE_KEY);
	}

	get isAdmin(): boolean {
		return this.session?.role === 'admin';
	}
}

export const auth = new AuthState();
