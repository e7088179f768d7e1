import { afterEach } from 'vitest';
import { present } from './browser';

/** Whoever is still there when a story ends is told about where it broke off, and sent away. */
afterEach(async ({ task }) => {
	for (const visitor of [...present]) {
		if (task.result?.state === 'fail') console.error(await visitor.describe());
		visitor.faults.length = 0;
		await visitor.leave();
	}
});
