import { test } from 'vitest';
import { logIn, WIDTHS, type Visitor } from './harness/browser';
import { PASSWORD } from './harness/hub';
import { filledRoutes, walk } from './harness/routes';
import { stage } from './harness/stage';

const full = stage();

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

async function logOut(visitor: Visitor): Promise<void> {
	await visitor.go('/account');
	await visitor.page.getByRole('button', { name: 'Log out' }).click();
	await visitor.page.waitForURL((url) => url.pathname === '/');
}
