import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findChromium } from './chromium';

export const WIDTHS = [360, 768, 1440] as const;
export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** The system's Chromium. Its sandbox does not start for root, who has none in containers. */
export function launchBrowser(): Promise<Browser> {
	return chromium.launch({
		executablePath: findChromium(),
		args: process.getuid?.() === 0 ? ['--no-sandbox'] : []
	});
}

export interface VisitorOptions {
	width?: number;
	theme?: Theme;
	/** Off for the page that says that it needs scripts. */
	scripts?: boolean;
}

/** Everybody who arrived and did not leave yet. */
export const present = new Set<Visitor>();

/** A visitor with a browser. Faults of the pages are collected and thrown when the visitor leaves. */
export class Visitor {
	readonly faults: string[] = [];
	private expected: RegExp[] = [];

	private constructor(
		readonly page: Page,
		private readonly context: BrowserContext,
		private readonly origin: string
	) {}

	static async arrive(browser: Browser, origin: string, options: VisitorOptions = {}): Promise<Visitor> {
		const context = await browser.newContext({
			viewport: { width: options.width ?? 1440, height: 900 },
			colorScheme: options.theme ?? 'light',
			reducedMotion: 'reduce',
			javaScriptEnabled: options.scripts ?? true
		});
		context.setDefaultTimeout(20_000);
		// No colour is measured while it fades. A style sheet of script passes the pages' content security policy.
		await context.addInitScript(() => {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync('*, *::before, *::after { transition: none !important; }');
			document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
		});
		const page = await context.newPage();
		const visitor = new Visitor(page, context, origin);
		visitor.watch();
		present.add(visitor);
		return visitor;
	}

	async go(path: string): Promise<void> {
		await this.page.goto(this.origin + path);
		await this.settled();
	}

	/** Waits until the page shows what it has to say. */
	async settled(): Promise<void> {
		await this.page.getByRole('heading', { level: 1 }).first().waitFor();
		await this.page.waitForFunction(() => !document.querySelector('[aria-busy="true"], .loading'));
	}

	/** Answers whose address matches may fail: the story is about that. */
	expects(address: RegExp): void {
		this.expected.push(address);
	}

	/** Where they are, what they see and what went wrong, for whoever looks for a mistake. */
	async describe(): Promise<string> {
		const text = await this.page.locator('body').innerText({ timeout: 2000 }).catch(String);
		return [this.page.url(), ...this.faults, text.slice(0, 1500)].join('\n');
	}

	async leave(): Promise<void> {
		present.delete(this);
		await this.context.close();
		if (this.faults.length > 0)
			throw new Error(`The pages did what they should not:\n${this.faults.join('\n')}`);
	}

	private watch(): void {
		const { page } = this;
		page.on('pageerror', (error) => this.note('error', error.message, page.url()));
		page.on('console', (message) => {
			if (message.type() === 'error') this.note('console', message.text(), message.location().url);
		});
		page.on('requestfailed', (request) => {
			// Leaving a page gives up what it still waited for.
			const why = request.failure()?.errorText ?? '';
			if (why !== 'net::ERR_ABORTED') this.note('failed', why, request.url());
		});
		page.on('response', (answer) => {
			if (answer.status() >= 400) this.note(`status ${answer.status()}`, '', answer.url());
		});
		page.on('request', (request) => {
			const address = new URL(request.url());
			const isInside = ['data:', 'blob:', 'file:'].includes(address.protocol);
			if (!isInside && address.origin !== this.origin) this.note('elsewhere', '', request.url());
		});
	}

	private note(kind: string, text: string, address: string): void {
		if (this.expected.some((pattern) => pattern.test(address))) return;
		this.faults.push(`${kind}: ${text} at ${address}`);
	}
}

/** Begins a session the way the page does, without typing. */
export async function logIn(visitor: Visitor, email: string, password: string): Promise<void> {
	const { page } = visitor;
	await visitor.go('/login');
	await page.getByLabel(/e-?mail/i).fill(email);
	await page.getByLabel(/^password/i).fill(password);
	await page
		.locator('main')
		.getByRole('button', { name: /log in/i })
		.click();
	await page.waitForURL((url) => url.pathname !== '/login');
	await visitor.settled();
}
