// What a build must be: nothing of it asks another origin, no markup runs code, and the first load is small.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const build = new URL('../build/', import.meta.url).pathname;
const kit = new URL('../.svelte-kit/', import.meta.url).pathname;

/** The most that the first load of any page may weigh, compressed. */
const LIMIT = 150_000;

/** Addresses that are only named, with the reason. Nothing is ever asked there. */
const NAMED = [
	/^http:\/\/www\.w3\.org\//, // names of markup languages
	/^https:\/\/svelte\.dev\/e\//, // where an error of the framework is explained
	/^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])/, // this machine, in commands that are shown
	/^https?:\/\/([a-z0-9-]+\.)*example(\.|\/|$)/, // names that belong to nobody, in examples
	/^https?:\/\/(a|n|x|internal)(\/|$)/ // a base for reading addresses that have none
];

const problems = [];
const files = readdirSync(build, { recursive: true, withFileTypes: true })
	.filter((entry) => entry.isFile())
	.map((entry) => join(entry.parentPath, entry.name).slice(build.length));
const read = (name) => readFileSync(join(build, name), 'utf8');

for (const name of files.filter((name) => /\.(html|js|css|svg|json|webmanifest)$/.test(name))) {
	const text = read(name);
	for (const [address] of text.matchAll(/\b(?:https?|wss?):\/\/[a-z0-9[][^\s"'`<>\\)}]*/gi)) {
		if (!NAMED.some((named) => named.test(address))) problems.push(`${name} names ${address}`);
	}
	for (const [tag] of text.matchAll(/<[a-z][a-z0-9-]*(?:\s[^<>]*)?\son[a-z]+\s*=[^<>]*>/g)) {
		problems.push(`${name} has a handler in its markup: ${tag.slice(0, 120)}`);
	}
}

/** The files that a page loads before it shows: the shell, the start, its layouts and itself, with what they import. */
const manifest = JSON.parse(readFileSync(join(kit, 'output/client/.vite/manifest.json'), 'utf8'));
const entries = Object.values(manifest);
const entry = (part) => entries.find((each) => each.isEntry && each.name === part);
const loads = (parts) => {
	const found = new Set();
	const visit = (chunk) => {
		if (!chunk || found.has(chunk.file)) return;
		found.add(chunk.file);
		for (const style of chunk.css ?? []) found.add(style);
		for (const next of chunk.imports ?? []) visit(manifest[next]);
	};
	parts.forEach((part) => {
		const chunk = entry(part);
		if (!chunk) problems.push(`the build has no ${part}`);
		visit(chunk);
	});
	return found;
};
const weigh = (name) => readFileSync(join(build, `${name}.br`)).length;

const app = readFileSync(join(kit, 'generated/client-optimized/app.js'), 'utf8');
const listed = app.match(/export const dictionary = (\{[\s\S]*?\});/);
const routes = listed ? new Function(`return ${listed[1]}`)() : {};
if (Object.keys(routes).length === 0) problems.push('no route was found');
let heaviest = ['', 0];
for (const [route, [page, layouts = []]] of Object.entries(routes)) {
	const nodes = [0, ...layouts, Math.abs(page)].filter((node) => typeof node === 'number');
	const parts = ['entry/start', 'entry/app', ...nodes.map((node) => `nodes/${node}`)];
	let weight = weigh('index.html') + weigh('theme.js');
	for (const file of loads(parts)) weight += weigh(file);
	if (weight > heaviest[1]) heaviest = [route, weight];
	if (weight > LIMIT) problems.push(`${route} loads ${weight} bytes first, and ${LIMIT} are allowed`);
}

const shell = read('index.html');
for (const needed of ["default-src 'none'", '<meta name="capsid-place" content="hub" />']) {
	if (!shell.includes(needed)) problems.push(`index.html has no ${needed}`);
}
if (/unsafe-(inline|eval)/.test(shell)) problems.push('the policy of index.html allows too much');
for (const needed of ['single/explorer.js', 'single/explorer.css', 'LICENSES.txt']) {
	if (!files.includes(needed)) problems.push(`the build has no ${needed}`);
}

if (!read('single/explorer.js').startsWith('/*!'))
	problems.push('single/explorer.js has no notice at its head');

problems.forEach((problem) => console.error(problem));
console.log(`the heaviest first load is ${heaviest[0]} with ${Math.round(heaviest[1] / 1000)} kB`);
process.exit(problems.length === 0 ? 0 : 1);
