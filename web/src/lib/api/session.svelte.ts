/**
 * Who is logged in.
 *
 * The token lies in the storage of this origin and goes along in a header. A cookie would reach every port of the
 * same host, and would be sent by pages of others too.
 */
const KEY = 'capsid.session';

export interface Session {
	token: string;
	email: string;
	role: string;
	expires_at: string;
}

function stored(): Session | undefined {
	try {
		const found = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Session | null;
		return found && Date.parse(found.expires_at) > Date.now() ? found : undefined;
	} catch {
		return undefined;
	}
}

class Who {
	session = $state<Session | undefined>(stored());

	begin(session: Session) {
		this.session = session;
		localStorage.setItem(KEY, JSON.stringify(session));
	}

	end() {
		this.session = undefined;
		localStorage.removeItem(KEY);
	}

	get isAdmin(): boolean {
		return this.session?.role === 'admin';
	}
}

export const who = new Who();
