import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findChromium } from './harness/chromium';
import { buildBundle, TestHub } from './harness/hub';

/** A site of somebody else. The browser finds it, and every name below, on this machine. */
const SITE = 'evil.test';

let hub: TestHub;
let site: Server;
let browser: Browser;

beforeAll(async () => {
	hub = await TestHub.start();
	site = createServer((_, answer) => {
		answer.setHeader('content-type', 'text/html');
		answer.end('<!doctype html><title>A page of somebody else</title><h1>Hello</h1>');
	});
	await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
	browser = await chromium.launch({
		executablePath: findChromium(),
		args: [
			...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
			`--host-resolver-rules=MAP ${SITE} 127.0.0.1`,
			// Newer browsers ask before a page calls this machine. The hub does not rely on it.
			'--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests'
		]
	});
});

afterAll(async () => {
	await browser?.close();
	site?.close();
	await hub?.stop();
});

/** Every row that a call can write, without what the hub notes by itself. */
async function rows(): Promise<string> {
	const script = [
		'import sqlite3, sys',
		'db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)',
		'own = {"jobs", "meta", "migrations", "indexed"}',
		'names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = \'table\' ORDER BY name")]',
		'for name in names:',
		'    if name not in own and not name.startswith(("found_", "held_", "sqlite_")):',
		'        print(name, sorted(map(repr, db.execute(f\'SELECT * FROM "{name}"\'))))'
	].join('\n');
	const { stdout } = await promisify(execFile)('python3', ['-c', script, hub.scratch.at('hub', 'hub.db')], {
		maxBuffer: 64 * 1024 * 1024
	});
	return stdout;
}

/** How often a rule has kept a request out. */
async function refusals(rule: string): Promise<number> {
	const metrics = await (await fetch(`${hub.url}/metrics`)).text();
	const line = new RegExp(`^capsid_hub_refusals_by_rule_total\\{rule="${rule}"\\} (\\d+)$`, 'm');
	return Number(line.exec(metrics)?.[1] ?? 0);
}

function message(kind: string, payload: unknown): string {
	return JSON.stringify({
		protocol: 'gep-a2a',
		protocol_version: '1.0.0',
		message_type: kind,
		message_id: `msg_${Math.random()}`,
		sender_id: 'node_0123456789abcdef',
		timestamp: new Date().toISOString(),
		payload
	});
}

/** What a page can make a browser send. Each runs in the page and gives how it went. */
const attacks: Record<string, (page: Page, url: string, body: string) => Promise<unknown>> = {
	'a fetch without CORS, as text': (page, url, body) =>
		page.evaluate(([url, body]) => fetch(url, { method: 'POST', mode: 'no-cors', body }).catch(String), [
			url,
			body
		] as const),
	'a fetch without CORS, as a form': (page, url, body) =>
		page.evaluate(
			([url, body]) =>
				fetch(url, {
					method: 'POST',
					mode: 'no-cors',
					headers: { 'content-type': 'application/x-www-form-urlencoded' },
					body
				}).catch(String),
			[url, body] as const
		),
	'a fetch with a blob that has no type': (page, url, body) =>
		page.evaluate(
			([url, body]) => fetch(url, { method: 'POST', mode: 'no-cors', body: new Blob([body]) }).catch(String),
			[url, body] as const
		),
	'a fetch of JSON, which asks first': (page, url, body) =>
		page.evaluate(
			([url, body]) =>
				fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
					(answer) => answer.text(),
					String
				),
			[url, body] as const
		),
	'a fetch of text that wants to read the answer': (page, url, body) =>
		page.evaluate(
			([url, body]) => fetch(url, { method: 'POST', body }).then((answer) => answer.text(), String),
			[url, body] as const
		),
	'a fetch that outlives its page': (page, url, body) =>
		page.evaluate(
			([url, body]) => fetch(url, { method: 'POST', mode: 'no-cors', keepalive: true, body }).catch(String),
			[url, body] as const
		),
	'a beacon of text': (page, url, body) =>
		page.evaluate(([url, body]) => navigator.sendBeacon(url, body), [url, body] as const),
	'a beacon of a blob that has no type': (page, url, body) =>
		page.evaluate(([url, body]) => navigator.sendBeacon(url, new Blob([body])), [url, body] as const),
	'an XMLHttpRequest of text': (page, url, body) =>
		page.evaluate(
			([url, body]) =>
				new Promise((done) => {
					const request = new XMLHttpRequest();
					request.open('POST', url);
					request.setRequestHeader('content-type', 'text/plain');
					request.onloadend = () => done(request.responseText);
					request.send(body);
				}),
			[url, body] as const
		),
	'a form of text that is sent by itself': (page, url, body) =>
		page.evaluate(
			([url, body]) =>
				new Promise((done) => {
					const frame = document.createElement('iframe');
					frame.name = 'target';
					const form = document.createElement('form');
					Object.assign(form, { method: 'post', action: url, enctype: 'text/plain', target: 'target' });
					// Text forms put an equals sign between name and value; inside of a string it does no harm.
					const field = document.createElement('input');
					const middle = body.indexOf('msg_') + 4;
					Object.assign(field, { name: body.slice(0, middle), value: body.slice(middle) });
					form.append(field);
					document.body.append(frame, form);
					frame.onload = () => done('loaded');
					form.submit();
				}),
			[url, body] as const
		),
	'a frame in a sandbox, whose origin is null': (page, url, body) =>
		page.evaluate(
			([url, body]) =>
				new Promise((done) => {
					const frame = document.createElement('iframe');
					frame.sandbox.add('allow-scripts');
					const call = `fetch(${JSON.stringify(url)}, {method: 'POST', mode: 'no-cors', body: ${JSON.stringify(body)}})`;
					frame.srcdoc = `<script>${call}.finally(() => parent.postMessage('done', '*'))</script>`;
					window.addEventListener('message', () => done('sent'));
					document.body.append(frame);
				}),
			[url, body] as const
		)
};

test('twelve calls from a page of another site change no row', async () => {
	const page = await browser.newPage();
	const { port } = site.address() as AddressInfo;
	const hello = message('hello', { capabilities: {} });
	const publish = message('publish', {
		assets: buildBundle({ signal: 'Planted', summary: 'Planted by a web page of somebody else.' })
	});
	const before = await rows();
	for (const host of [`${SITE}:${port}`, `127.0.0.1:${port}`]) {
		for (const [name, attack] of Object.entries(attacks)) {
			for (const [path, body] of [
				['/a2a/hello', hello],
				['/a2a/publish', publish]
			] as const) {
				await page.goto(`http://${host}/`);
				const answer = await attack(page, hub.url + path, body);
				expect(String(answer), `${name} from ${host}`).not.toContain('"payload"');
			}
		}
	}
	// Each of them reached the hub, some after the page had what it waited for.
	const calls = 2 * 2 * Object.keys(attacks).length;
	await expect.poll(() => refusals('origin'), { timeout: 20_000 }).toBeGreaterThanOrEqual(calls);
	// The twelfth: the site's name comes to lead to the hub, so that the browser takes both for one.
	const rebinding = `http://${SITE}:${new URL(hub.url).port}/`;
	await page.route(rebinding, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Hello</h1>' }));
	await page.goto(rebinding);
	const rebound = await page.evaluate(
		(body) =>
			fetch('/a2a/publish', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
				(answer) => answer.text(),
				String
			),
		publish
	);
	expect(rebound).toContain('host_not_allowed');
	await page.close();
	expect(await rows()).toBe(before);
	// The same message from a program is taken, so that it was the page that was kept out.
	await hub.call('POST', '/a2a/publish', JSON.parse(publish));
	expect(await rows()).not.toBe(before);
});
