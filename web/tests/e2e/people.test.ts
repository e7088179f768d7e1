import { expect, test } from 'vitest';
import { logIn } from './harness/browser';
import { PASSWORD } from './harness/hub';
import { stage } from './harness/stage';

const on = stage();

test('somebody registers, claims a node by its address, offers a bounty and accepts what comes', async () => {
	const { hub } = on;
	const visitor = await on.visit();
	const { page } = visitor;
	const main = page.locator('main');
	const mailer = await hub.node('mailer');
	const { claim_url } = await mailer.hello('mailer');

	await visitor.go(new URL(claim_url).pathname);
	await main.getByText(mailer.id).first().waitFor();
	await main.getByRole('button', { name: 'I am new here' }).click();
	await main.getByLabel('E-mail address').fill('cleo@example.org');
	await main.getByLabel('Password').fill(PASSWORD);
	await main.getByRole('button', { name: 'Make an account and claim' }).click();
	await page.getByRole('heading', { level: 1, name: 'The node is yours' }).waitFor();
	await main.getByRole('link', { name: 'Your account' }).click();
	await main.getByText(mailer.id).first().waitFor();
	await hub.operator('grant-credits', 'cleo@example.org', '100', '--reason', 'to begin with');

	await visitor.go('/bounties/new');
	await main.getByLabel('Title').fill('Letters without a name');
	await main.getByLabel('Signals').fill('TypeError');
	await main.getByLabel('Reward in credits').fill('40');
	await main.getByRole('button', { name: 'Offer the bounty' }).click();
	await page.waitForURL(/\/bounties\/(?!new)/);
	await page.getByRole('heading', { level: 1, name: 'Letters without a name' }).waitFor();
	const bounty = decodeURIComponent(new URL(page.url()).pathname.split('/').pop() ?? '');

	// A node of somebody else takes the task and hands in its solution, while the page is open.
	const { task_id } = await hub.call('GET', `/bounty/${bounty}`);
	const solved = await on.filled.shop.publish({
		signal: 'TypeError',
		summary: 'Look at an answer before reading it.'
	});
	await on.filled.shop.task('claim', task_id);
	await on.filled.shop.task('complete', task_id, { asset_id: solved.capsule });
	await main.getByRole('button', { name: 'Accept and pay' }).first().click();
	const question = page.getByRole('dialog');
	await question.getByRole('button', { name: 'Accept and pay' }).click();
	await main.getByText('The bounty is paid.').waitFor();
	expect((await hub.call('GET', `/bounty/${bounty}`)).status).toBe('accepted');

	await visitor.go('/account/credits');
	await main.getByText(/60/).first().waitFor();
	expect(await main.getByRole('row').count()).toBeGreaterThan(1);
	await visitor.leave();
});

test('an admin promotes a candidate', async () => {
	const visitor = await on.visit();
	const { page } = visitor;
	await logIn(visitor, on.filled.admin.email, PASSWORD);
	await visitor.go('/admin?type=Capsule');
	await page.getByRole('button', { name: /^Promote: Add an index/ }).click();
	const question = page.getByRole('dialog');
	await question.getByLabel('Reason').fill('Read and tried.');
	await question.getByRole('button', { name: 'Promote' }).click();
	await page
		.getByText(/Add an index.*” /)
		.first()
		.waitFor();
	const asset = await on.hub.call('GET', `/a2a/assets/${encodeURIComponent(on.filled.index.capsule)}`);
	expect(asset.status).toBe('promoted');
	await visitor.go('/admin/log');
	await page.getByText('Read and tried.').first().waitFor();
	await visitor.leave();
});

test('a wrong password is reported in the form, and the e-mail address stays', async () => {
	const visitor = await on.visit();
	visitor.expects(/\/auth\/login/);
	const { page } = visitor;
	await visitor.go('/login');
	await page.getByLabel('E-mail address').fill(on.filled.ann.email);
	await page.getByLabel('Password').fill('not this one');
	await page.locator('main').getByRole('button', { name: 'Log in' }).click();
	await page.getByRole('alert').first().waitFor();
	expect(await page.getByLabel('E-mail address').inputValue()).toBe(on.filled.ann.email);
	await visitor.leave();
});

test('a swarm shows its parts and the split', async () => {
	const visitor = await on.visit();
	await visitor.go(`/tasks/${encodeURIComponent(on.filled.swarm)}/swarm`);
	await visitor.page.getByText('Convert amounts').first().waitFor();
	await visitor.page.getByText('Show both amounts').first().waitFor();
	await visitor.leave();
});
