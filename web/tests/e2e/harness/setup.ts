import { afterEach } from 'vitest';
import { present } from './browser';

/** Closes the visitors that a failed test left open, and prints what they saw. */
afterEach(async ({ task }) => {
	for (const visitor of [...present]) {
		if (task.result?.state === 'fail') console.error(await visitor.describe());
		visitor.faults.length = 0;
		await visitor.leave();
	}
});
