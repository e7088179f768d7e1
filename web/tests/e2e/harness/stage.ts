import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser, Visitor, type VisitorOptions } from './browser';
import { fillHub, type FilledHub } from './fill';
import { TestHub } from './hub';

/** A hub and a browser for one file of stories. */
export interface Stage {
	hub: TestHub;
	filled: FilledHub;
	browser: Browser;
	visit(options?: VisitorOptions): Promise<Visitor>;
}

/** With `isEmpty` nobody has ever called the hub. */
export function stage({ isEmpty = false } = {}): Stage {
	const made = {
		visit: (options: VisitorOptions = {}) => Visitor.arrive(made.browser, made.hub.url, options)
	} as Stage;
	beforeAll(async () => {
		[made.hub, made.browser] = await Promise.all([TestHub.start(), launchBrowser()]);
		if (!isEmpty) made.filled = await fillHub(made.hub);
	});
	afterAll(async () => {
		await made.browser?.close();
		await made.hub?.stop();
	});
	return made;
}
