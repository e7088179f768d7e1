import { isObject } from '$lib/api/problem';
import { sampleOf, type Schema, type Schemas } from './schema';

/** The hub's description of itself, as a list of calls. */
export interface Call {
	id: string;
	method: string;
	path: string;
	tag: string;
	summary: string;
	description: string;
	parameters: { name: string; place: string; isRequired: boolean; about: string; schema: Schema }[];
	body: { schema: Schema; sample: unknown } | undefined;
	answers: { status: string; about: string; type: string; schema: Schema }[];
}

export interface Reference {
	title: string;
	version: string;
	schemas: Schemas;
	calls: Call[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const object = (value: unknown): Schema => (isObject(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readReference(document: unknown): Reference {
	const { info, paths, components } = object(document);
	const schemas = object(object(components)['schemas']);
	const calls = Object.entries(object(paths)).flatMap(([path, item]) =>
		METHODS.flatMap((method) => {
			const operation = object(item)[method];
			return isObject(operation) ? [callOf(method, path, operation, schemas)] : [];
		})
	);
	return { title: text(object(info)['title']), version: text(object(info)['version']), schemas, calls };
}

function callOf(method: string, path: string, operation: Schema, schemas: Schemas): Call {
	const parameters = Array.isArray(operation['parameters']) ? operation['parameters'].map(object) : [];
	return {
		id: text(operation['operationId']) || `${method}${path}`,
		method: method.toUpperCase(),
		path,
		tag: Array.isArray(operation['tags']) ? text(operation['tags'][0]) || 'other' : 'other',
		summary: text(operation['summary']),
		description: text(operation['description']),
		parameters: parameters.map((parameter) => ({
			name: text(parameter['name']),
			place: text(parameter['in']),
			isRequired: parameter['required'] === true,
			about: text(parameter['description']),
			schema: object(parameter['schema'])
		})),
		body: bodyOf(operation['requestBody'], schemas),
		answers: Object.entries(object(operation['responses'])).flatMap(([status, answer]) =>
			answersOf(status, answer)
		)
	};
}

function bodyOf(body: unknown, schemas: Schemas): Call['body'] {
	const content = object(object(object(body)['content'])['application/json']);
	if (!isObject(content['schema'])) return undefined;
	return { schema: content['schema'], sample: content['example'] ?? sampleOf(content['schema'], schemas) };
}

function answersOf(status: string, answer: unknown): Call['answers'] {
	const about = text(object(answer)['description']);
	const contents = Object.entries(object(object(answer)['content']));
	return contents.length
		? contents.map(([type, content]) => ({ status, about, type, schema: object(object(content)['schema']) }))
		: [{ status, about, type: '', schema: {} }];
}

/** What most come for comes first. */
const FIRST = ['discovery', 'messages', 'assets', 'nodes', 'tasks', 'bounties', 'accounts'];
const rank = (tag: string) => (FIRST.includes(tag) ? FIRST.indexOf(tag) : FIRST.length);

/** The calls that hold all words, by their tags. */
export function found(calls: Call[], words: string): { tag: string; calls: Call[] }[] {
	const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
	const groups = new Map<string, Call[]>();
	for (const call of calls) {
		const names = call.parameters.map(({ name }) => name).join(' ');
		const told =
			`${call.method} ${call.path} ${call.tag} ${call.summary} ${call.description} ${names}`.toLowerCase();
		if (wanted.every((word) => told.includes(word)))
			groups.set(call.tag, [...(groups.get(call.tag) ?? []), call]);
	}
	return [...groups]
		.map(([tag, calls]) => ({ tag, calls }))
		.sort((a, b) => rank(a.tag) - rank(b.tag) || a.tag.localeCompare(b.tag));
}

/** The call as a command for a shell. */
export function curlOf({ method, path, parameters, body }: Call, origin: string): string {
	const query = parameters.filter(({ place, isRequired }) => place === 'query' && isRequired);
	const asked = query.length ? `?${query.map(({ name }) => `${name}=…`).join('&')}` : '';
	const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} '${origin}${path}${asked}'`];
	if (body) {
		const json = JSON.stringify(body.sample, null, 2).replaceAll("'", "'\\''");
		lines.push("-H 'content-type: application/json'", `-d '${json}'`);
	}
	return lines.join(' \\\n  ');
}
