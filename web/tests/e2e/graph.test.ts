import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { logIn, THEMES, Visitor, WIDTHS, type Theme } from './harness/browser';
import { TestHub, PASSWORD } from './harness/hub';
import { expectAccessible, expectFits } from './harness/checks';
import { stage } from './harness/stage';

const on = stage();

/** What people reported to the graph: two connected things, and two without any connection. */
beforeAll(async () => {
	const thing = (name: string, entity_type: string) => ({ name, entity_type, properties: {} });
	await on.hub.call(
		'POST',
		'/kg/ingest',
		{
			entities: [
				thing('payment gateway', 'service'),
				thing('exchange rates', 'service'),
				thing('far island', 'place'),
				thing('lonely rock', 'place')
			],
			relations: [{ source_name: 'payment gateway', target_name: 'exchange rates', type: 'depends_on' }]
		},
		on.filled.ann.token
	);
});

const panel = (page: Page, name: RegExp | string) => page.getByRole('region', { name });
const kinds = (page: Page) => page.getByRole('navigation', { name: 'Kinds' });
const countShown = async (page: Page) => {
	const status = await page
		.getByRole('status')
		.filter({ hasText: /are shown/ })
		.innerText();
	return Number(/([\d,]+) thing/.exec(status)?.[1]?.replace(',', ''));
};

/** Opens the list of everything and chooses a thing there, without the picture. */
async function choose(page: Page, name: RegExp): Promise<void> {
	const list = page.getByRole('group').filter({ hasText: /things as a list/ });
	if ((await list.getAttribute('open')) === null) await list.getByText(/things as a list/).click();
	await list.getByRole('link', { name }).first().click();
	await page.waitForURL(/at=e_/);
}

test('a search says why each thing was found, and leads to its details and its page', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/graph');
	await page.getByRole('searchbox').fill('TimeoutError');
	await page.getByRole('button', { name: 'Search' }).click();
	await page.waitForURL(/\/graph\?q=TimeoutError/);
	const hits = panel(page, /hit/);
	await hits
		.getByText(/found by its words/)
		.first()
		.waitFor();
	await hits
		.getByText(/solved by|triggers/)
		.first()
		.waitFor();
	await hits
		.getByRole('link', { name: /^Call again after a timeout/ })
		.first()
		.click();
	const details = panel(page, /Call again after a timeout/);
	await details.getByRole('heading', { level: 2 }).waitFor();
	// Keys go on where the list was.
	expect(await page.evaluate(() => document.activeElement?.id)).toBe('thing');
	await details
		.getByText(/said by/)
		.first()
		.waitFor();
	await expectAccessible(page);
	const address = page.url();
	await details.getByRole('link', { name: 'Page of the asset' }).click();
	await page.waitForURL(/\/assets\//);
	await page.goBack();
	await page.waitForURL(address);
	await page.goBack();
	await panel(page, /hit/).waitFor();
	await visitor.leave();
});

test('the relations of a thing are added, shared by the address, and taken away again', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go(`/graph?around=${encodeURIComponent(on.filled.index.capsule)}`);
	await choose(page, /linux_x64/);
	const before = await countShown(page);
	await page.getByRole('link', { name: /^Show \d+ more/ }).click();
	await page.waitForURL(/open=e_/);
	await expect.poll(() => countShown(page)).toBeGreaterThan(before);
	const after = await countShown(page);
	await visitor.go(new URL(page.url()).pathname + new URL(page.url()).search);
	await expect.poll(() => countShown(page)).toBe(after);
	await page.getByRole('link', { name: 'Start again' }).click();
	await expect.poll(() => countShown(page)).toBe(before);
	await visitor.leave();
});

test('kinds are left out and come back, and filters are part of the address', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/graph?q=TimeoutError');
	await kinds(page)
		.getByRole('link', { name: /^Environment \d+ shown/ })
		.click();
	await page.waitForURL(/kinds=/);
	await kinds(page)
		.getByRole('link', { name: /^Environment left out/ })
		.waitFor();
	await expect.poll(() => page.getByRole('link', { name: /^Environment: / }).count()).toBe(0);
	await page.goBack();
	await kinds(page)
		.getByRole('link', { name: /^Environment \d+ shown/ })
		.waitFor();
	await page.getByLabel('Category').selectOption('optimize');
	await page.waitForURL(/category=optimize/);
	await page.getByRole('link', { name: 'Clear filters' }).click();
	await page.waitForURL((url) => !url.search.includes('category'));
	await visitor.leave();
});

test('a path is shown step by step, and a missing path is reported', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/graph?q=TimeoutError');
	await choose(page, /^Signal: timeout_error$/);
	await page.getByRole('link', { name: 'Way from here' }).click();
	await page.getByText(/choose another thing/).waitFor();
	await choose(page, /^Environment: linux_x64/);
	await page.getByRole('link', { name: 'Way to here' }).click();
	const path = panel(page, 'Way');
	await path.getByText(/\d steps?, the shortest/).waitFor();
	expect(await path.innerText()).toMatch(/timeout_error[\s\S]*solved by[\s\S]*worked on[\s\S]*linux_x64/i);
	await page.getByRole('link', { name: 'Forget the way' }).click();
	await page.waitForURL((url) => !url.search.includes('from='));

	await page.getByText('A way between two things').click();
	await page.getByLabel('From').fill('far island');
	await page.getByLabel('To', { exact: true }).fill('place:lonely rock');
	await page.getByRole('button', { name: 'Find the way' }).click();
	await path.getByText(/There is no way between/).waitFor();
	visitor.expects(/kg\/path/);
	await page.getByLabel('To', { exact: true }).fill('what nobody ever told');
	await page.getByRole('button', { name: 'Find the way' }).click();
	await path
		.getByRole('alert')
		.getByText(/nothing that is called/)
		.waitFor();
	await visitor.leave();
});

test('what people reported is marked with its author', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go('/graph?q=payment+gateway');
	await panel(page, /hit/)
		.getByRole('link', { name: /^payment gateway/ })
		.first()
		.click();
	const details = panel(page, 'payment gateway');
	await details.getByText(/told by an account/).waitFor();
	await details.getByRole('heading', { name: /depends on/ }).waitFor();
	await details.getByRole('link', { name: /exchange rates/ }).waitFor();
	await visitor.leave();
});

test('untrusted text stays text in the picture and in the lists', async () => {
	const attack = 'Mend <img src=x onerror="window.wasRun=1"> \u202egnp.exe <script>window.wasRun=1</script>';
	const { capsule } = await on.filled.crawler.publish({ signal: 'HostileGraph', summary: attack });
	// The hub holds such a text back; an admin may still let it in.
	const release = `/admin/assets/${encodeURIComponent(capsule)}/release`;
	await on.hub.call('POST', release, { reason: 'to look at it' }, on.filled.admin.token);
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go(`/graph?around=${encodeURIComponent(capsule)}`);
	await choose(page, /^Gene: Mend <img src=x/);
	await panel(page, /Mend <img/).waitFor();
	expect(await page.evaluate(() => 'wasRun' in window)).toBe(false);
	expect(await page.locator('img[src="x"]').count()).toBe(0);
	expect(await page.locator('main').innerText()).not.toContain('\u202e');
	await visitor.leave();
});

test('an asset links to its node in the graph', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await visitor.go(`/assets/${encodeURIComponent(on.filled.retry.capsule)}`);
	await page.getByRole('link', { name: 'In the graph' }).click();
	await page.waitForURL(/\/graph\?around=/);
	await panel(page, /Call again after a timeout/)
		.getByRole('link', { name: 'Page of the asset' })
		.waitFor();
	expect(await countShown(page)).toBeGreaterThan(2);
	await visitor.leave();
});

test('without the picture everything is there as lists, by keyboard', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await page.addInitScript(() => {
		const usual = HTMLCanvasElement.prototype.getContext;
		HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...more: []) {
			return kind.startsWith('webgl') ? null : usual.call(this, kind, ...more);
		} as typeof usual;
	});
	await visitor.go('/graph?q=TimeoutError');
	await page.getByText('This browser cannot draw the picture.').waitFor();
	const link = page.getByRole('link', { name: /^Environment: linux_x64/ }).last();
	await link.focus();
	await page.keyboard.press('Enter');
	await panel(page, 'linux_x64').getByRole('link', { name: 'Way from here' }).waitFor();
	await visitor.leave();
});

test('where the graph is closed, the page says so and how to get in', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	visitor.expects(/\/kg\//);
	const correction = { problem: 'The graph is open to admins only.', fix: 'Ask the operator.' };
	await page.route(/\/kg\/graph/, (route) =>
		route.fulfill({ status: 403, json: { error: 'plan_upgrade_required', correction } })
	);
	await visitor.go('/graph?q=x');
	await page.getByRole('alert').getByText('The graph is open to admins only.').waitFor();
	expect(await page.getByRole('main').getByRole('link', { name: 'Log in' }).getAttribute('href')).toContain(
		encodeURIComponent('/graph?q=x')
	);
	await visitor.leave();
});

test('a price is shown before anything is spent, confirmed once, and summed up', async () => {
	const hub = await TestHub.start('[graph]\nquery_price = 2\n');
	try {
		const node = await hub.node('shop');
		await node.publish({ signal: 'TimeoutError', summary: 'Call again after a timeout.' });
		const token = await hub.register('ann@example.org');
		await hub.operator('grant-credits', 'ann@example.org', '50', '--reason', 'to try it');
		const left = async () => (await hub.call('GET', '/kg/status', undefined, token)).balance as number;
		const had = await left();

		const visitor = await Visitor.arrive(on.browser, hub.url);
		const { page } = visitor;
		const requests: string[] = [];
		page.on('request', (request) => {
			const { pathname } = new URL(request.url());
			if (pathname === '/kg/graph' || pathname === '/kg/path') requests.push(request.url());
		});
		const notice = panel(page, 'Each question costs 2 credits');
		await visitor.go('/graph?q=timeout');
		await notice.getByRole('link', { name: 'Log in to ask' }).waitFor();
		await logIn(visitor, 'ann@example.org', PASSWORD);
		await visitor.go('/graph');
		await notice.getByText(`Your account has ${had} credits.`).waitFor();
		await page.getByRole('searchbox').fill('timeout');
		await page.getByRole('button', { name: 'Search' }).click();
		await page.waitForURL(/q=timeout/);
		await notice.waitFor();
		await expectAccessible(page);
		expect(requests).toEqual([]);

		const agree = notice.getByRole('button', { name: 'Ask for 2 credits each' });
		await agree.focus();
		await page.keyboard.press('Enter');
		await panel(page, /hit/).waitFor();
		const spent = (credits: number) => page.getByText(`Spent in this session: ${credits} credits.`).waitFor();
		await spent(2);
		await choose(page, /^Node: shop/);
		await page.getByRole('link', { name: 'Only around this' }).click();
		await spent(4);
		await page.goBack();
		await panel(page, 'shop').waitFor();
		await page.getByRole('link', { name: 'Page of the node' }).click();
		await page.waitForURL(/\/nodes\//);
		await page.goBack();
		await panel(page, 'shop').waitFor();
		await spent(4);
		expect(requests).toHaveLength(2);

		// What is opened is one question; so is all that a shared address opens.
		const ids = await page.evaluate(async (bearer) => {
			const answer = await fetch('/kg/graph?q=timeout', { headers: { authorization: `Bearer ${bearer}` } });
			const { nodes } = (await answer.json()) as { nodes: { id: string }[] };
			return nodes.map(({ id }) => id);
		}, token);
		requests.length = 0;
		await visitor.go(`/graph?q=timeout&open=${ids.slice(0, 5).join(',')}`);
		await panel(page, /hit/).waitFor();
		await spent(8);
		expect(requests).toHaveLength(2);
		await visitor.go('/graph');
		await panel(page, 'Begin with').waitFor();
		expect(requests).toHaveLength(2);
		expect(await left()).toBe(had - 10);
		await visitor.leave();
	} finally {
		await hub.stop();
	}
});

const variants = WIDTHS.flatMap((width) => THEMES.map((theme): [number, Theme] => [width, theme]));

test.each(variants)('a thing and a path at %i pixels, %s', async (width, theme) => {
	const visitor: Visitor = await on.visit({ width, theme });
	const { page } = visitor;
	await visitor.go('/graph?q=TimeoutError&from=signal:TimeoutError&to=environment:linux_x64');
	await choose(page, /^Capsule: Call again/);
	await panel(page, 'Way')
		.getByText(/the shortest/)
		.waitFor();
	await expectFits(page);
	await expectAccessible(page);
	await visitor.leave();
});
