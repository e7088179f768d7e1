import { expect, test } from 'vitest';
import { stage } from './harness/stage';

const on = stage({ isEmpty: true });

/** The addresses on this hub that a page links to or shows, without their anchors, and the anchors by address. */
function readLinks(html: string): string[] {
	return [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target]) => target!);
}

test('a reader without scripts goes from the index through the documents', async () => {
	const visitor = await on.visit({ scripts: false });
	const { page } = visitor;
	await page.goto(`${on.hub.url}/docs`);
	await page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
	await page.getByRole('article').getByRole('link', { name: 'The first minute' }).click();
	await page.waitForURL(/\/docs\/start\/first-minute$/);
	await page.getByText('$ capsid demo').first().waitFor();
	await page
		.getByRole('navigation', { name: 'Next' })
		.getByRole('link', { name: 'A ten-minute tour' })
		.click();
	await page.getByRole('heading', { level: 1, name: 'A ten-minute tour' }).waitFor();
	await visitor.leave();
});

test('the menu of the hub leads to the documents', async () => {
	const visitor = await on.visit();
	await visitor.go('/');
	await visitor.page.getByRole('link', { name: 'Docs', exact: true }).click();
	await visitor.page.waitForURL(/\/docs$/);
	await visitor.page.getByRole('heading', { level: 1, name: 'Documents' }).waitFor();
	await visitor.leave();
});

test('every document is served without a script, and every link in it leads somewhere', async () => {
	const pages = new Map<string, string>();
	const waiting = ['/docs'];
	for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
		if (pages.has(address)) continue;
		const response = await fetch(on.hub.url + address);
		const policy = response.headers.get('content-security-policy') ?? '';
		expect([address, response.status]).toEqual([address, 200]);
		const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
		const text = isPage ? await response.text() : '';
		pages.set(address, text);
		if (!isPage) continue;
		expect(policy, address).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self';/);
		expect(text, address).not.toMatch(/<script|\sstyle=|https?:\/\/[^\s"<]*"\s*(?:src|href)/);
		const links = readLinks(text).map((target) => target.split('#')[0]!);
		waiting.push(...links.filter((target) => target.startsWith('/docs')));
	}
	const documents = [...pages].filter(([, text]) => text !== '');
	expect(documents.length).toBeGreaterThan(30);
	for (const [address, text] of documents) {
		for (const target of readLinks(text).filter((target) => target.includes('#'))) {
			const [path, anchor] = target.split('#');
			const page = pages.get(path || address);
			if (path === '' && anchor === 'main') continue;
			expect(page?.includes(`id="${anchor}"`), `${address}: ${target}`).toBe(true);
		}
	}
});
