// Refuses retired names of files and identifiers in src and tests, so that they do not return: a name is the word that
// the field uses, and a function is a verb with its object.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'svelte/compiler';

const ROOT = new URL('../', import.meta.url).pathname;
const FOLDERS = ['src', 'tests'];
/** These are rebuilt as a whole, and keep their names until then. */
const EXCEPTED = /^src\/lib\/(seal|graph)\//;
const FROM_EXCEPTED = /^\$lib\/(seal|graph)\//;

/** Refused as a whole name, in any case: `told`, `Told`, `TOLD`. */
const RETIRED_NAMES =
	/^(asked|desk|figures|found|kept|looks?|of|places?|purse|roster|said|sayer|shown|standing|teller|tell|told|ways?|who|wish)$/i;
/** Refused as a word of a longer name too: `isTold`, `verdictSaid`. */
const RETIRED_WORDS = /^(desk|purse|roster|said|sayer|teller|told|wish)$/i;
/** A function is a verb and its object: `parseView`, not `viewOf`. */
const RETIRED_ENDING = /[a-z]Of$/;

const splitWords = (name) => name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])/g) ?? [];

function isRetired(name) {
	const bare = name.replace(/^[#_$]+|_+$/g, '');
	return (
		RETIRED_NAMES.test(bare) ||
		RETIRED_ENDING.test(bare) ||
		splitWords(bare).some((word) => RETIRED_WORDS.test(word))
	);
}

const SKIPPED_FIELDS = new Set(['loc', 'metadata', 'comments', 'css']);
/** Fields that name a member of something declared elsewhere, such as a field of the hub's answers. */
const isForeign = (node, field) =>
	!node.computed &&
	((node.type === 'MemberExpression' && field === 'property') ||
		(node.type === 'TSQualifiedName' && field === 'right') ||
		(node.type === 'ImportSpecifier' && field === 'imported') ||
		(node.type === 'Property' && field === 'key' && !node.shorthand));

/** Every name that a file binds or declares. */
function* listNames(node) {
	if (Array.isArray(node)) for (const item of node) yield* listNames(item);
	if (typeof node?.type !== 'string') return;
	if (node.type === 'Identifier' || node.type === 'PrivateIdentifier')
		yield { name: node.name, start: node.start };
	// The index of a block is a plain text in the tree.
	if (node.type === 'EachBlock' && node.index) yield { name: node.index, start: node.start };
	for (const [field, value] of Object.entries(node))
		if (typeof value === 'object' && !SKIPPED_FIELDS.has(field) && !isForeign(node, field))
			yield* listNames(value);
}

/** The names of a file with their lines. A module is parsed as the script of a component. */
function readNames(path) {
	const text = readFileSync(path, 'utf8');
	const source = path.endsWith('.svelte')
		? text
		: `<script lang="ts">${text.replaceAll('</script', '<_script')}</script>`;
	const { fragment, instance, module } = parse(source, { modern: true });
	const scripts = [instance, module].flatMap((script) => script?.content.body ?? []);
	const excepted = new Set(
		scripts
			.filter(({ type, source: from }) => type === 'ImportDeclaration' && FROM_EXCEPTED.test(from.value))
			.flatMap(({ specifiers }) => specifiers.map(({ local }) => local.name))
	);
	return [...listNames(fragment.nodes), ...listNames(scripts)]
		.filter(({ name }) => !excepted.has(name))
		.map(({ name, start }) => ({ name, line: source.slice(0, start).split('\n').length }));
}

const problems = new Set();
const files = FOLDERS.flatMap((folder) =>
	readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
)
	.filter((entry) => entry.isFile() && /\.(ts|svelte)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
	.map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
	.filter((file) => !EXCEPTED.test(file))
	.sort();
for (const file of files) {
	const parts = file.split('/').map((part) => basename(part).split('.')[0]);
	for (const part of parts) if (isRetired(part)) problems.add(`${file}: the file name ${part} is retired`);
	for (const { name, line } of readNames(join(ROOT, file)))
		if (isRetired(name)) problems.add(`${file}:${line}: the name ${name} is retired`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.size === 0 ? 0 : 1);
