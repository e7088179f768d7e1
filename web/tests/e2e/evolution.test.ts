import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, THEMES, Visitor, WIDTHS, type VisitorOptions, type Theme } from './harness/browser';
import { expectAccessible, expectFits } from './harness/checks';
import { ScratchFolder, type RunningProgram } from './harness/program';

let scratch: ScratchFolder;
let browser: Browser;
let viewer: RunningProgram;

beforeAll(async () => {
	[scratch, browser] = await Promise.all([ScratchFolder.make(), launchBrowser()]);
	// Three real cycles: a repair, its reuse, and a careless change that is taken back.
	await scratch.run(['demo', '--dir', scratch.at('story')]);
	const words = ['-C', scratch.at('story', 'repo'), 'events', '--web', '--port', '0'];
	viewer = await scratch.start(words, { AGENT_CAPSULE_HOME: scratch.at('story', 'trail') });
});

afterAll(async () => {
	await browser?.close();
	await viewer?.stop();
	await scratch?.remove();
});

async function arrive(options: VisitorOptions = {}): Promise<Visitor> {
	const visitor = await Visitor.arrive(browser, viewer.origin, options);
	await visitor.page.goto(viewer.address);
	await visitor.settled();
	await visitor.page.getByRole('heading', { name: /Event tree/ }).waitFor();
	return visitor;
}

test('the cycles of a repository are shown with the reasons behind each', async () => {
	const visitor = await arrive();
	const { page } = visitor;
	await page.getByRole('heading', { level: 1, name: /Evolution of/ }).waitFor();
	const tree = page.getByRole('group', { name: /Event tree/ });
	expect(await tree.getByRole('button').count()).toBe(3);
	await tree.getByRole('button').last().click();
	await page.getByRole('heading', { name: 'Why it was chosen' }).waitFor();
	await page.getByText('sh test.sh').first().waitFor();
	await page.getByText('sealed', { exact: true }).first().waitFor();
	await tree.getByRole('button').first().click();
	await page
		.getByText(/failed/i)
		.first()
		.waitFor();
	await visitor.leave();
});

test('the tree is walked by keys', async () => {
	const visitor = await arrive();
	const { page } = visitor;
	const buttons = page.getByRole('group', { name: /Event tree/ }).getByRole('button');
	await buttons.first().focus();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	expect(await buttons.nth(1).getAttribute('aria-current')).toBe('true');
	await visitor.leave();
});

const variants = WIDTHS.flatMap((width) => THEMES.map((theme): [number, Theme] => [width, theme]));

test.each(variants)('the page of the evolution at %i pixels, %s', async (width, theme) => {
	const visitor = await arrive({ width, theme });
	await expectFits(visitor.page);
	await expectAccessible(visitor.page);
	await visitor.leave();
});
