import { mkdir } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, logIn, THEMES, Visitor, type VisitorOptions } from './browser';
import { fillHub } from './fill';
import { TestHub, PASSWORD } from './hub';
import { ScratchFolder } from './program';
import { filledRoutes, OPEN_ROUTES } from './routes';
import { sealFourAgents } from './transcripts';

const VARIANTS: VisitorOptions[] = [360, 1440].flatMap((width) => THEMES.map((theme) => ({ width, theme })));

/** Takes pictures into a folder; only those whose names contain a text. */
export async function captureAll(folder: string, only: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	const camera = new Camera(await launchBrowser(), folder, only);
	try {
		if (only.startsWith('viewer')) return await captureViewers(camera);
		await captureFullHub(camera);
		await captureEmptyHub(camera);
		await captureViewers(camera);
	} finally {
		await camera.browser.close();
	}
}

class Camera {
	constructor(
		readonly browser: Browser,
		private readonly folder: string,
		private readonly only: string
	) {}

	async capture(page: Page, name: string, variant: VisitorOptions): Promise<void> {
		const file = `${name}-${variant.width}-${variant.theme}.png`;
		if (!file.includes(this.only)) return;
		await page.waitForTimeout(400);
		await page.screenshot({ path: `${this.folder}/${file}`, fullPage: variant.width === 360 });
	}
}

function toFileName(route: string): string {
	const plain = decodeURIComponent(route)
		.replace(/(sha256:|node_|task_|bounty_)[0-9a-f]+/g, (_, kind: string) => kind.replace(/\W|\d/g, ''))
		.replace(/[^a-z]+/gi, '-');
	return plain.replace(/^-|-$/g, '') || 'home';
}

async function captureFullHub(camera: Camera): Promise<void> {
	const hub = await TestHub.start();
	try {
		const filled = await fillHub(hub);
		const { open, members, admins } = filledRoutes(filled);
		for (const variant of VARIANTS) {
			const shoot = async (routes: string[], email = '') => {
				const visitor = await Visitor.arrive(camera.browser, hub.url, variant);
				if (email) await logIn(visitor, email, PASSWORD);
				for (const route of routes) {
					await visitor.go(route);
					await camera.capture(visitor.page, `full-${routes.indexOf(route)}-${toFileName(route)}`, variant);
				}
				reportFaults(visitor);
			};
			await shoot(open);
			await shoot(members, filled.ann.email);
			await shoot(admins, filled.admin.email);
		}
	} finally {
		await hub.stop();
	}
}

async function captureEmptyHub(camera: Camera): Promise<void> {
	const hub = await TestHub.start();
	try {
		for (const variant of VARIANTS) {
			const visitor = await Visitor.arrive(camera.browser, hub.url, variant);
			for (const route of OPEN_ROUTES) {
				await visitor.go(route);
				await camera.capture(visitor.page, `empty-${toFileName(route)}`, variant);
			}
			reportFaults(visitor);
		}
	} finally {
		await hub.stop();
	}
}

async function captureViewers(camera: Camera): Promise<void> {
	const scratch = await ScratchFolder.make();
	await sealFourAgents(scratch);
	await scratch.run(['demo', '--dir', scratch.at('story')]);
	const trail = await scratch.start(['trail', 'explore', '--port', '0']);
	const repo = scratch.at('story', 'repo');
	const events = await scratch.start(['-C', repo, 'events', '--web', '--port', '0'], {
		AGENT_CAPSULE_HOME: scratch.at('story', 'trail')
	});
	try {
		for (const variant of VARIANTS) {
			const visitor = await Visitor.arrive(camera.browser, trail.origin, variant);
			const { page } = visitor;
			await page.goto(trail.address);
			await page
				.getByText(/\bvalid\b/)
				.first()
				.waitFor();
			await camera.capture(page, 'viewer-explorer', variant);
			await page.getByRole('button', { name: 'Tamper' }).click();
			await page.getByRole('button', { name: /broken at/ }).click();
			await camera.capture(page, 'viewer-explorer-tampered', variant);
			reportFaults(visitor);
			const other = await Visitor.arrive(camera.browser, events.origin, variant);
			await other.page.goto(events.address);
			await other.page.getByRole('heading', { name: /Event tree/ }).waitFor();
			await camera.capture(other.page, 'viewer-evolution', variant);
			reportFaults(other);
		}
	} finally {
		await Promise.all([trail.stop(), events.stop()]);
		await scratch.remove();
	}
}

/** What a page did wrong is no reason to stop taking pictures. */
function reportFaults(visitor: Visitor): void {
	for (const fault of visitor.faults) console.warn(fault);
	visitor.faults.length = 0;
	void visitor.leave();
}
