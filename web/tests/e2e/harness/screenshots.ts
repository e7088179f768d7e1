import { mkdir } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { launch, loggedIn, THEMES, Visitor, type Look } from './browser';
import { fill } from './fill';
import { Hub, PASSWORD } from './hub';
import { Scratch } from './program';
import { filledRoutes, OPEN_ROUTES } from './routes';
import { sealFourAgents } from './transcripts';

const LOOKS: Look[] = [360, 1440].flatMap((width) => THEMES.map((theme) => ({ width, theme })));

/** Takes pictures into a folder; only those whose names contain a text. */
export async function takeAll(folder: string, only: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	const camera = new Camera(await launch(), folder, only);
	try {
		if (only.startsWith('desk')) return await ofDesks(camera);
		await ofFullHub(camera);
		await ofEmptyHub(camera);
		await ofDesks(camera);
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

	async take(page: Page, name: string, look: Look): Promise<void> {
		const file = `${name}-${look.width}-${look.theme}.png`;
		if (!file.includes(this.only)) return;
		await page.waitForTimeout(400);
		await page.screenshot({ path: `${this.folder}/${file}`, fullPage: look.width === 360 });
	}
}

function nameOf(route: string): string {
	const plain = decodeURIComponent(route)
		.replace(/(sha256:|node_|task_|bounty_)[0-9a-f]+/g, (_, kind: string) => kind.replace(/\W|\d/g, ''))
		.replace(/[^a-z]+/gi, '-');
	return plain.replace(/^-|-$/g, '') || 'home';
}

async function ofFullHub(camera: Camera): Promise<void> {
	const hub = await Hub.start();
	try {
		const filled = await fill(hub);
		const { open, members, admins } = filledRoutes(filled);
		for (const look of LOOKS) {
			const shoot = async (routes: string[], email = '') => {
				const visitor = await Visitor.arrive(camera.browser, hub.url, look);
				if (email) await loggedIn(visitor, email, PASSWORD);
				for (const route of routes) {
					await visitor.go(route);
					await camera.take(visitor.page, `full-${routes.indexOf(route)}-${nameOf(route)}`, look);
				}
				tell(visitor);
			};
			await shoot(open);
			await shoot(members, filled.ann.email);
			await shoot(admins, filled.admin.email);
		}
	} finally {
		await hub.stop();
	}
}

async function ofEmptyHub(camera: Camera): Promise<void> {
	const hub = await Hub.start();
	try {
		for (const look of LOOKS) {
			const visitor = await Visitor.arrive(camera.browser, hub.url, look);
			for (const route of OPEN_ROUTES) {
				await visitor.go(route);
				await camera.take(visitor.page, `empty-${nameOf(route)}`, look);
			}
			tell(visitor);
		}
	} finally {
		await hub.stop();
	}
}

async function ofDesks(camera: Camera): Promise<void> {
	const scratch = await Scratch.make();
	await sealFourAgents(scratch);
	await scratch.run(['demo', '--dir', scratch.at('story')]);
	const trail = await scratch.start(['trail', 'explore', '--port', '0']);
	const repo = scratch.at('story', 'repo');
	const events = await scratch.start(['-C', repo, 'events', '--web', '--port', '0'], {
		AGENT_CAPSULE_HOME: scratch.at('story', 'trail')
	});
	try {
		for (const look of LOOKS) {
			const visitor = await Visitor.arrive(camera.browser, trail.origin, look);
			const { page } = visitor;
			await page.goto(trail.address);
			await page
				.getByText(/verified · nothing altered/)
				.first()
				.waitFor();
			await camera.take(page, 'desk-explorer', look);
			await page.getByRole('button', { name: 'Tamper' }).click();
			await page.getByRole('button', { name: /broken at/ }).click();
			await camera.take(page, 'desk-explorer-tampered', look);
			tell(visitor);
			const other = await Visitor.arrive(camera.browser, events.origin, look);
			await other.page.goto(events.address);
			await other.page.getByRole('heading', { name: /Event tree/ }).waitFor();
			await camera.take(other.page, 'desk-evolution', look);
			tell(other);
		}
	} finally {
		await Promise.all([trail.stop(), events.stop()]);
		await scratch.remove();
	}
}

/** What a page did wrong is no reason to stop taking pictures. */
function tell(visitor: Visitor): void {
	for (const fault of visitor.faults) console.warn(fault);
	visitor.faults.length = 0;
	void visitor.leave();
}
