import { hub, unwrapResponse } from '$lib/api/client';
import type { components } from '$lib/api/schema';

export type AuditEntry = components['schemas']['AuditEntry'];

export interface AuditFilter {
	subject: string;
	actor: string;
	action: string;
}

/** Who did what, newest first. */
export async function readAudit(filter: AuditFilter, cursor: string | undefined, limit: number) {
	const filled = Object.entries(filter).filter(([, value]) => value);
	const query = { limit, ...Object.fromEntries(filled), ...(cursor ? { cursor } : {}) };
	const answer = await unwrapResponse(hub.GET('/admin/audit', { params: { query } }));
	return { rows: answer.entries, next: answer.next_cursor ?? null };
}

/** Keeps an account from doing anything, or lets it back. */
export function setBan(user_id: string, isBanned: boolean, reason: string): Promise<unknown> {
	const call = { params: { path: { user_id } }, body: { reason } };
	return unwrapResponse(
		isBanned ? hub.POST('/admin/users/{user_id}/ban', call) : hub.POST('/admin/users/{user_id}/unban', call)
	);
}

/** The e-mail addresses of the newest accounts, by id: enough to recognise who acted. */
export async function readEmails(): Promise<Map<string, string>> {
	const answer = await unwrapResponse(hub.GET('/admin/users', { params: { query: { limit: 100 } } }));
	return new Map(answer.users.map(({ user_id, email }) => [user_id, email]));
}
