import { expect, test } from 'vitest';
import { launchBrowser, Visitor } from './harness/browser';
import { PASSWORD } from './harness/hub';
import { ScratchFolder } from './harness/program';

test('the link that `capsid up` prints makes the first admin, once', async () => {
	const scratch = await ScratchFolder.make();
	const [up, browser] = await Promise.all([
		scratch.start(['up', '--listen', '127.0.0.1:0', '--data', scratch.at('hub')]),
		launchBrowser()
	]);
	try {
		const link = await expect
			.poll(() => /\/welcome#k=[0-9a-f]+/.exec(up.printed())?.[0], { timeout: 10_000 })
			.toBeTruthy()
			.then(() => /\/welcome#k=[0-9a-f]+/.exec(up.printed())?.[0] ?? '');
		const first = await Visitor.arrive(browser, up.origin);
		await first.go(link);
		const main = first.page.locator('main');
		await main.getByLabel('E-mail address').fill('ann@example.org');
		await main.getByLabel('Password').fill(PASSWORD);
		await main.getByRole('button', { name: 'Make the first account' }).click();
		await first.page.waitForURL(`${up.origin}/`);
		await first.go('/admin');
		await first.page.getByRole('heading', { level: 1 }).waitFor();
		await first.leave();

		const second = await Visitor.arrive(browser, up.origin);
		second.expects(/\/auth\/welcome/);
		await second.go(link);
		const form = second.page.locator('main');
		await form.getByLabel('E-mail address').fill('ben@example.org');
		await form.getByLabel('Password').fill(PASSWORD);
		await form.getByRole('button', { name: 'Make the first account' }).click();
		await form.getByText('The welcome link does not work').first().waitFor();
		await second.leave();
	} finally {
		await browser.close();
		await up.stop();
		await scratch.remove();
	}
});
