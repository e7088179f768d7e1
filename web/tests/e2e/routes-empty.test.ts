import { test } from 'vitest';
import { WIDTHS } from './harness/browser';
import { OPEN_ROUTES, walk } from './harness/routes';
import { stage } from './harness/stage';

const empty = stage({ isEmpty: true });

test.each(WIDTHS)('every page of an empty hub at %i pixels, light and dark', async (width) => {
	const visitor = await empty.visit({ width });
	await walk(visitor, OPEN_ROUTES);
	await visitor.leave();
});
