import { test } from 'vitest';
import { logIn, THEMES, WIDTHS, type Visitor } from './harness/browser';
import { expectAccessible, expectFits, switchTheme } from './harness/checks';
import { filledRoutes, OPEN_ROUTES } from './harness/routes';
import { PASSWORD } from './harness/hub';
import { stage } from './harness/stage';

const full = stage();
const empty = stage({ isEmpty: true });

/** Every address at a width, in both themes: nothing sticks out, and axe finds nothing serious. */
async function walk(visitor: Visitor, routes: string[]): Promise<void> {
	const { page } = visitor;
	for (const route of routes) {
		await visitor.go(route);
		for (const colorScheme of THEMES) {
			await switchTheme(page, colorScheme);
			await expectFits(page);
			await expectAccessible(page, `${page.url()}, ${colorScheme}`);
		}
	}
}

test.each(WIDTHS)('every page of a filled hub at %i pixels, light and dark', async (width) => {
	const visitor = await full.visit({ width });
	const { open, members, admins } = filledRoutes(full.filled);
	await walk(visitor, open);
	await logIn(visitor, full.filled.ann.email, PASSWORD);
	await walk(visitor, members);
	await logOut(visitor);
	await logIn(visitor, full.filled.admin.email, PASSWORD);
	await walk(visitor, admins);
	await visitor.leave();
});

test.each(WIDTHS)('every page of an empty hub at %i pixels, light and dark', async (width) => {
	const visitor = await empty.visit({ width });
	await walk(visitor, OPEN_ROUTES);
	await visitor.leave();
});

async function logOut(visitor: Visitor): Promise<void> {
	await visitor.go('/account');
	await visitor.page.getByRole('button', { name: 'Log out' }).click();
	await visitor.page.waitForURL((url) => url.pathname === '/');
}
