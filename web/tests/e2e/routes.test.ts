import { test } from 'vitest';
import { THEMES, WIDTHS, type Theme, type Visitor } from './harness/browser';
import { expectAccessible, expectFits } from './harness/look';
import { filledRoutes, OPEN_ROUTES } from './harness/routes';
import { PASSWORD } from './harness/hub';
import { stage } from './harness/stage';

const full = stage();
const empty = stage({ isEmpty: true });

/** Every address at a width and in a theme: nothing sticks out, and axe finds nothing serious. */
async function walk(visitor: Visitor, routes: string[]): Promise<void> {
	for (const route of routes) {
		await visitor.go(route);
		await expectFits(visitor.page);
		await expectAccessible(visitor.page);
	}
}

const looks = WIDTHS.flatMap((width) => THEMES.map((theme): [number, Theme] => [width, theme]));

test.each(looks)('every page of a filled hub at %i pixels, %s', async (width, theme) => {
	const visitor = await full.visit({ width, theme });
	const { open, members, admins } = filledRoutes(full.filled);
	await walk(visitor, open);
	await login(visitor, full.filled.ann.email);
	await walk(visitor, members);
	await logout(visitor);
	await login(visitor, full.filled.admin.email);
	await walk(visitor, admins);
	await visitor.leave();
});

test.each(looks)('every page of an empty hub at %i pixels, %s', async (width, theme) => {
	const visitor = await empty.visit({ width, theme });
	await walk(visitor, OPEN_ROUTES);
	await visitor.leave();
});

async function login(visitor: Visitor, email: string): Promise<void> {
	const { page } = visitor;
	await visitor.go('/login');
	await page.getByLabel('E-mail address').fill(email);
	await page.getByLabel('Password').fill(PASSWORD);
	await page.locator('main').getByRole('button', { name: 'Log in' }).click();
	await page.waitForURL((url) => url.pathname !== '/login');
}

async function logout(visitor: Visitor): Promise<void> {
	await visitor.go('/account');
	await visitor.page.getByRole('button', { name: 'Log out' }).click();
	await visitor.page.waitForURL((url) => url.pathname === '/');
}
