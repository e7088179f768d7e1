import type { Visitor } from './browser';
import { expectAccessible, expectFits, expectReadable, switchTheme } from './checks';
import type { FilledHub } from './fill';

/** What everybody can open on every hub. */
export const OPEN_ROUTES = [
	'/',
	'/browse',
	'/graph',
	'/nodes',
	'/tasks',
	'/bounties',
	'/docs',
	'/docs/start/tour',
	'/docs/explanation/trust',
	'/explorer',
	'/evolution',
	'/reference',
	'/skill',
	'/login',
	'/register',
	'/claim',
	'/welcome'
];

/** The pages of a hub by who may see them. */
export function filledRoutes(filled: FilledHub): { open: string[]; members: string[]; admins: string[] } {
	const asset = (id: string) => `/assets/${encodeURIComponent(id)}`;
	return {
		open: [
			...OPEN_ROUTES,
			'/browse?status=candidate',
			'/graph?q=timeout',
			`/graph?around=${encodeURIComponent(filled.retry.capsule)}`,
			asset(filled.retry.capsule),
			asset(filled.retry.gene),
			asset(filled.hollow.capsule),
			`/nodes/${filled.shop.id}`,
			`/tasks/${filled.task}`,
			`/tasks/${filled.swarm}/swarm`,
			`/bounties/${filled.bounty}`
		],
		members: [
			'/bounties/new',
			'/account',
			'/account/credits',
			'/account/keys',
			'/account/webhooks',
			'/account/access'
		],
		admins: ['/admin', '/admin/people', '/admin/log']
	};
}

/** Every address at a width: nothing sticks out, axe finds nothing serious, and both themes can be read. */
export async function walk(visitor: Visitor, routes: string[]): Promise<void> {
	const { page } = visitor;
	for (const route of routes) {
		await switchTheme(page, 'light');
		await visitor.go(route);
		await expectFits(page);
		await expectAccessible(page, `${page.url()}, light`);
		await switchTheme(page, 'dark');
		await expectFits(page);
		await expectReadable(page, `${page.url()}, dark`);
	}
}
