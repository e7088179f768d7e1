import { expect, test } from 'vitest';
import { stage } from './harness/stage';

const on = stage();

test('a search leads to an asset, and from there to its lineage', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/');
	await page.getByRole('searchbox').fill('timeout');
	await page.getByRole('button', { name: 'Search' }).click();
	await page.waitForURL(/\/browse\?q=timeout/);
	await page
		.getByRole('link', { name: /Call again after a timeout/ })
		.first()
		.click();
	await page.waitForURL(/\/assets\//);
	await page.getByRole('heading', { level: 1, name: /Call again after a timeout/ }).waitFor();

	await page.getByText('The id is the hash of this content.').first().waitFor();
	const lineage = page
		.locator('section, article, div')
		.filter({ has: page.getByRole('heading', { name: 'Lineage' }) });
	for (const kind of ['gene', 'capsule', 'event']) {
		await lineage.getByText(kind, { exact: true }).first().waitFor();
	}
	await lineage
		.getByRole('link', { name: /Call again after a timeout/ })
		.first()
		.click();
	await page
		.getByText(/^Gene$/)
		.first()
		.waitFor();
	await visitor.leave();
});

test('the page of an asset says what its reports are worth', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go(`/assets/${encodeURIComponent(on.filled.hollow.capsule)}`);
	await page
		.getByText(/proves nothing/i)
		.first()
		.waitFor();
	await visitor.go(`/assets/${encodeURIComponent(on.filled.retry.capsule)}`);
	await page.getByRole('heading', { name: 'Evidence' }).waitFor();
	await page.getByText(on.filled.invoices.id).first().waitFor();
	await visitor.leave();
});

test('facets and their counts narrow what is shown', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/browse?status=candidate');
	await page
		.getByRole('navigation', { name: 'Filters' })
		.getByRole('link', { name: /^optimize/ })
		.click();
	await page.waitForURL(/category=optimize/);
	await page
		.getByRole('link', { name: /Add an index/ })
		.first()
		.waitFor();
	await expect.poll(() => page.getByRole('link', { name: /Replace a removed call/ }).count()).toBe(0);
	await visitor.leave();
});

test('the statistics change while the page is open', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/');
	await page.getByText('Live', { exact: true }).waitFor();
	const nodes = () => page.getByRole('region', { name: 'Numbers of this hub' }).innerText();
	const before = await nodes();
	await on.hub.node('late');
	await expect.poll(nodes, { timeout: 15_000 }).not.toBe(before);
	await visitor.leave();
});

test('from the first page to an asset by keyboard alone', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/');
	const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
	const tabTo = async (name: RegExp) => {
		for (let pressed = 0; pressed < 80; pressed += 1) {
			await page.keyboard.press('Tab');
			if (name.test(await focused())) return;
		}
		throw new Error(`${name} cannot be reached by Tab`);
	};
	await tabTo(/^Browse$/);
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/browse/);
	await page
		.getByRole('link', { name: /Call again after a timeout/ })
		.first()
		.waitFor();
	await tabTo(/^Call again after a timeout/);
	const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
	expect(outline).not.toBe('none');
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/assets\//);
	await page.getByRole('heading', { level: 1, name: /Call again after a timeout/ }).waitFor();
	await visitor.leave();
});

test('untrusted text stays text', async () => {
	const attack =
		'Fix <img src=x onerror="window.wasRun=1"> \u202egnp.exe javascript:alert(1) <script>window.wasRun=1</script>';
	const published = await on.filled.crawler.publish({
		signal: 'HostileText',
		summary: attack,
		content: `${attack} [a](javascript:window.wasRun=1)`
	});
	const visitor = await on.visit();
	const { page } = visitor;
	for (const path of [`/assets/${encodeURIComponent(published.capsule)}`, '/browse?status=candidate', '/']) {
		await visitor.go(path);
		await page.waitForLoadState('load');
		expect(await page.evaluate(() => 'wasRun' in window), path).toBe(false);
		expect(await page.locator('img[src="x"]').count(), path).toBe(0);
		expect(await page.locator('a[href^="javascript:"]').count(), path).toBe(0);
		expect(await page.locator('main').innerText(), path).not.toContain('\u202e');
	}
	await visitor.go(`/assets/${encodeURIComponent(published.capsule)}`);
	expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain('<img src=x');
	await visitor.leave();
});

test('without scripts the page says what it needs', async () => {
	const visitor = await on.visit({ scripts: false });
	// What the page would load early is refused together with the scripts.
	visitor.expects(/\/_app\//);
	await visitor.page.goto(on.hub.url);
	const text = await visitor.page.locator('body').innerText();
	expect(text).toMatch(/script/i);
	await visitor.leave();
});
