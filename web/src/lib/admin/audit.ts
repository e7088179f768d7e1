import { hub, toldAs } from '$lib/api/client';

export interface AuditEntry {
	at: string;
	actor: string;
	action: string;
	subject_kind: string;
	subject: string;
	before: string | null;
	after: string | null;
	reason: string | null;
}

export interface AuditFilter {
	subject: string;
	actor: string;
	action: string;
}

/** Who did what, newest first. */
export async function readAudit(filter: AuditFilter, cursor: string | undefined, limit: number) {
	const filled = Object.entries(filter).filter(([, value]) => value);
	const query = { limit, ...Object.fromEntries(filled), ...(cursor ? { cursor } : {}) };
	const told = await toldAs<{ entries: AuditEntry[]; next_cursor: string | null }>(
		hub.GET('/admin/audit' as never, { params: { query } } as never)
	);
	return { rows: told.entries, next: told.next_cursor };
}

/** Keeps an account and all its nodes from doing anything, or lets them back. */
export function setBan(user_id: string, isBanned: boolean, reason: string): Promise<unknown> {
	const path = isBanned ? '/admin/users/{user_id}/ban' : '/admin/users/{user_id}/unban';
	return toldAs(hub.POST(path as never, { params: { path: { user_id } }, body: { reason } } as never));
}
