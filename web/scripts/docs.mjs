// The documents as pages: each file of `docs` becomes HTML when the pages are built. They need no script.
import { readFileSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';

const FOLDER = new URL('../../docs/', import.meta.url).pathname;
const STYLES = ['../src/app.css', '../src/docs.css'].map((name) => new URL(name, import.meta.url).pathname);
const INDEX = 'SUMMARY.md';
/** Beside the pages: what they show or offer to take along. */
const FILES = /^(images\/[\w-]+\.(png|svg)|verify\.mjs|reference\/(record|redaction)\.json)$/;

const escapeHtml = (text) =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The anchor of a heading, as forges make it. */
const slug = (text) =>
	text
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, '')
		.trim()
		.replaceAll(' ', '-');

/** The address of a page, from its path below `docs`. */
export const pageAddress = (path) => (path === INDEX ? '/docs' : `/docs/${path.replace(/\.md$/, '')}`);

/** Where a link of a page leads, or nothing if the hub does not serve that. */
export function linkAddress(page, target) {
	if (/^[a-z]+:/.test(target)) return undefined;
	const [path, anchor] = target.split('#');
	const hash = anchor ? `#${anchor}` : '';
	if (path === '') return hash;
	const file = posix.normalize(posix.join(posix.dirname(page), path));
	if (file.startsWith('..')) return undefined;
	if (file.endsWith('.md')) return pageAddress(file) + hash;
	return FILES.test(file) ? `/docs/${file}` : undefined;
}

/** The HTML of a page's Markdown, and its title. */
export function renderPage(page, text) {
	const marked = new Marked({ gfm: true });
	let title = '';
	marked.use({
		renderer: {
			html: () => '',
			heading({ tokens, depth, text: plain }) {
				const content = this.parser.parseInline(tokens);
				if (depth === 1) title = plain.replaceAll('`', '');
				const id = escapeHtml(slug(plain));
				return `<h${depth} id="${id}">${content}</h${depth}>\n`;
			},
			link({ href, tokens }) {
				const content = this.parser.parseInline(tokens);
				const address = linkAddress(page, href);
				return address === undefined ? content : `<a href="${escapeHtml(address)}">${content}</a>`;
			},
			image({ href, text: description }) {
				const address = linkAddress(page, href);
				if (address === undefined) throw new Error(`${page}: ${href} is not served`);
				return `<img src="${escapeHtml(address)}" alt="${escapeHtml(description)}" loading="lazy" />`;
			},
			code({ text: content, lang }) {
				const isConsole = lang?.startsWith('console');
				const lines = content.split('\n').map((line) => {
					if (!isConsole) return escapeHtml(line);
					if (/^\? \d+$/.test(line)) return undefined;
					return line.startsWith('$ ') ? `<b>${escapeHtml(line)}</b>` : escapeHtml(line);
				});
				const shown = lines.filter((line) => line !== undefined).join('\n');
				return `<pre tabindex="0"${isConsole ? ' class="console"' : ''}><code>${shown}</code></pre>\n`;
			}
		}
	});
	const body = marked.parse(text);
	// A wide table scrolls by itself.
	const html = body
		.replaceAll('<table>', '<div class="table" tabindex="0"><table>')
		.replaceAll('</table>', '</table></div>');
	return { title, html };
}

/** The sections of the index with the pages in them. */
export function readIndex(text) {
	const sections = [];
	for (const line of text.split('\n')) {
		const heading = /^## (.+)$/.exec(line);
		const entry = /^- \[(.+)\]\((.+)\)$/.exec(line);
		if (heading) sections.push({ title: heading[1], pages: [] });
		if (entry) sections.at(-1).pages.push({ title: entry[1].replaceAll('`', ''), path: entry[2] });
	}
	return sections;
}

function frame(page, { title, html }, sections) {
	const pages = sections.flatMap((section) => section.pages);
	const at = pages.findIndex(({ path }) => path === page);
	const item = ({ path, title }) => {
		const current = path === page ? ' aria-current="page"' : '';
		return `<li><a href="${pageAddress(path)}"${current}>${escapeHtml(title)}</a></li>`;
	};
	const list = ({ title, pages }) => `<h2>${escapeHtml(title)}</h2>\n<ul>${pages.map(item).join('\n')}</ul>`;
	const step = (other, name) =>
		other
			? `<a rel="${name}" href="${pageAddress(other.path)}">${escapeHtml(other.title)}</a>`
			: '<span></span>';
	const section = sections.find(({ pages }) => pages.some(({ path }) => path === page));
	const trail = section
		? `<p class="trail"><a href="/docs">Documents</a> / ${escapeHtml(section.title)}</p>\n`
		: '';
	const steps =
		at < 0
			? ''
			: `<nav class="steps" aria-label="Next">${step(pages[at - 1], 'prev')}${step(pages[at + 1], 'next')}</nav>\n`;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta name="referrer" content="no-referrer" />
<title>${escapeHtml(title)} · Capsid</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml" />
<link rel="stylesheet" href="/docs/docs.css" />
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="top"><div class="inner">
<a class="name" href="/"><img src="/favicon.svg" alt="" width="24" height="24" /> Capsid</a>
<nav aria-label="Main"><a href="/">Hub</a> <a href="/docs" aria-current="true">Docs</a> <a href="/reference">API</a></nav>
</div></header>
<div class="columns">
<nav class="index" aria-label="Documents">
${sections.map(list).join('\n')}
</nav>
<main id="main" tabindex="-1">
${trail}<article>
${html}</article>
${steps}</main>
</div>
</body>
</html>
`;
}

/** A file for each document, with the style sheet and the pictures. */
export function docs() {
	return {
		name: 'capsid-docs',
		generateBundle() {
			if (this.environment.name !== 'client') return;
			const emit = (name, source) => this.emitFile({ type: 'asset', fileName: `docs/${name}`, source });
			const files = readdirSync(FOLDER, { recursive: true }).sort();
			const sections = readIndex(readFileSync(FOLDER + INDEX, 'utf8'));
			for (const page of files.filter((name) => name.endsWith('.md'))) {
				const content = renderPage(page, readFileSync(FOLDER + page, 'utf8'));
				const name = page === INDEX ? 'index.html' : page.replace(/\.md$/, '.html');
				emit(name, frame(page, content, sections));
			}
			for (const name of files.filter((name) => FILES.test(name))) emit(name, readFileSync(FOLDER + name));
			emit('docs.css', STYLES.map((path) => readFileSync(path, 'utf8')).join('\n'));
		}
	};
}
