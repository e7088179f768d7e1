import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
	id: string;
	impact: string | null;
	help: string;
	nodes: { target: unknown[]; failureSummary?: string }[];
}

/** No serious or critical finding of axe on the page as it is. */
export async function expectAccessible(page: Page, where = page.url()): Promise<void> {
	await runAxe(page, where, {});
}

/** The same for what depends on colours: all that differs between the themes. */
export async function expectReadable(page: Page, where = page.url()): Promise<void> {
	await runAxe(page, where, { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } });
}

async function runAxe(page: Page, where: string, options: object): Promise<void> {
	await finishAnimations(page);
	if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
	const findings = (await page.evaluate(
		`axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...options })}).then((result) => result.violations)`
	)) as Finding[];
	const bad = findings.filter((finding) => finding.impact === 'serious' || finding.impact === 'critical');
	const messages = bad.map((finding) => {
		const first = finding.nodes.slice(0, 3).map((node) => `  ${String(node.target)}: ${node.failureSummary}`);
		return `${finding.id} (${finding.impact}): ${finding.help}\n${first.join('\n')}`;
	});
	expect(messages, where).toEqual([]);
}

/** Nothing is wider than the window. The widest parts are named where something is. */
export async function expectFits(page: Page, where = page.url()): Promise<void> {
	const wide = await page.evaluate(() => {
		const room = window.innerWidth;
		if (document.documentElement.scrollWidth <= room) return [];
		return [...document.querySelectorAll('body *')]
			.filter((part) => part.getBoundingClientRect().right > room + 1)
			.slice(-4)
			.map((part) => `${part.tagName}.${part.className} ends at ${part.getBoundingClientRect().right}`);
	});
	expect(wide, where).toEqual([]);
}

/** Changes the theme and waits until the page shows it: contrast measured halfway would be of neither theme. */
export async function switchTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
	await page.emulateMedia({ colorScheme });
	await page.evaluate(async (scheme) => {
		const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
		const colours = () => {
			const style = getComputedStyle(document.body);
			return `${style.backgroundColor} ${style.color}`;
		};
		let before = '';
		while (before !== colours() || !matchMedia(`(prefers-color-scheme: ${scheme})`).matches) {
			before = colours();
			await nextFrame();
			await nextFrame();
		}
	}, colorScheme);
}

/** What fades or slides is measured where it ends. */
async function finishAnimations(page: Page): Promise<void> {
	await page.evaluate(async () => {
		await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
		for (const animation of document.getAnimations()) {
			if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
		}
	});
}
