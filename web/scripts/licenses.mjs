// What a build takes from others, and under which licence. A build that takes what may not be passed on fails.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that ask for no more than their own text. */
const ALLOWED = ['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];

/** The folder of the package of a module: `…/node_modules/@noble/hashes`. */
const folderOf = (id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/@]+)\//.exec(id)?.[1];

const byName = (a, b) => (a.name < b.name ? -1 : 1);

function readPackage(folder) {
	const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	if (!ALLOWED.includes(license)) throw new Error(`${name} is under ${license}, which is not allowed here`);
	const file = readdirSync(folder).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
	if (!file) throw new Error(`${name} comes without the text of its licence`);
	const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
	return { name, version, license, text };
}

/** The packages of some modules, each once, in order. */
function packagesOf(ids) {
	const folders = new Set(ids.map(folderOf).filter((folder) => folder !== undefined));
	const found = new Map([...folders].map(readPackage).map((each) => [`${each.name} ${each.version}`, each]));
	return [...found.values()].sort(byName);
}

function texts(packages) {
	const head = 'The pages of Capsid hold these packages, each under its own licence.\n';
	const parts = packages.map(
		({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`
	);
	return [head, ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

/** A line for each package with whose it is. Addresses are left out: a page names none. */
function notice(packages) {
	const lines = packages.map(({ name, version, license, text }) => {
		const owner = /^.*copyright \(c\).*$/im.exec(text)?.[0] ?? '';
		const plain = owner.replace(/[<([]*https?:[^\s>)\]]*[>)\]]*|[[\]]/g, '').replaceAll('*/', '');
		return ` * ${name} ${version}, ${license}. ${plain.replace(/\s+/g, ' ').trim()}`.trimEnd();
	});
	return `/*!\n * Part of Capsid, Apache-2.0, and of:\n${lines.join('\n')}\n */\n`;
}

/** The modules whose code is in the files that were made. */
const modulesIn = (bundle) =>
	Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));

/** For the pages: notes what goes into them and their workers, and puts the texts beside them. */
export function licenses() {
	const modules = new Set();
	const note = (bundle) => modulesIn(bundle).forEach((id) => modules.add(id));
	const worker = { name: 'capsid-licenses-worker', generateBundle: (_, bundle) => note(bundle) };
	const pages = {
		name: 'capsid-licenses',
		generateBundle(_, bundle) {
			// What renders on a server makes the shell, and does not come along.
			if (this.environment.name !== 'client') return;
			note(bundle);
			const source = texts(packagesOf([...modules]));
			this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source });
		}
	};
	return { pages, worker };
}

/** For the page on disk: a notice at the head of its script, which travels without any other file. */
export function noticeAtHead() {
	return {
		name: 'capsid-notice',
		enforce: 'post',
		generateBundle(_, bundle) {
			const text = notice(packagesOf(modulesIn(bundle)));
			for (const chunk of Object.values(bundle)) {
				if (chunk.type === 'chunk') chunk.code = text + chunk.code;
			}
		}
	};
}
