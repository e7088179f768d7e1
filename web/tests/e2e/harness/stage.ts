import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launch, Visitor, type Look } from './browser';
import { fill, type Filled } from './fill';
import { Hub } from './hub';

/** A hub and a browser for one file of stories. */
export interface Stage {
	hub: Hub;
	filled: Filled;
	browser: Browser;
	visit(look?: Look): Promise<Visitor>;
}

/** With `isEmpty` nobody has ever called the hub. */
export function stage({ isEmpty = false } = {}): Stage {
	const made = {
		visit: (look: Look = {}) => Visitor.arrive(made.browser, made.hub.url, look)
	} as Stage;
	beforeAll(async () => {
		[made.hub, made.browser] = await Promise.all([Hub.start(), launch()]);
		if (!isEmpty) made.filled = await fill(made.hub);
	});
	afterAll(async () => {
		await made.browser?.close();
		await made.hub?.stop();
	});
	return made;
}
