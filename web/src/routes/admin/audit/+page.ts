import { redirect } from '@sveltejs/kit';

/** The address of a call, opened by a person. */
export const load = () => redirect(307, '/admin/log');
