/** Where to go after a login. Only paths of this site count: what begins with `//` or holds a backslash leads elsewhere. */
export function sanitizeNextPath(wanted: string | null | undefined, otherwise = '/account'): string {
	const isOurs =
		typeof wanted === 'string' &&
		/^\/(?![/\\])/.test(wanted) &&
		!/[\\\u0000-\u001f\u007f]/.test(wanted) &&
		!/^\/(login|register)([/?#]|$)/.test(wanted);
	return isOurs ? wanted : otherwise;
}

/** The address of a page that leads back here. */
export function buildLoginHref(page: '/login' | '/register', here: string): string {
	const next = sanitizeNextPath(here, '');
	return next ? `${page}?next=${encodeURIComponent(next)}` : page;
}
