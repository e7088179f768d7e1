import { isObject } from '$lib/api/problem';
import { createSample, type Schema, type Schemas } from './schema';

/** The hub's description of itself, as a list of calls. */
export interface ApiCall {
	id: string;
	method: string;
	path: string;
	tag: string;
	summary: string;
	description: string;
	parameters: { name: string; location: string; isRequired: boolean; about: string; schema: Schema }[];
	body: { schema: Schema; sample: unknown } | undefined;
	answers: { status: string; about: string; type: string; schema: Schema }[];
}

export interface ApiReference {
	title: string;
	version: string;
	schemas: Schemas;
	calls: ApiCall[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const toObject = (value: unknown): Schema => (isObject(value) ? value : {});
const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

export function parseReference(document: unknown): ApiReference {
	const { info, paths, components } = toObject(document);
	const schemas = toObject(toObject(components)['schemas']);
	const calls = Object.entries(toObject(paths)).flatMap(([path, item]) =>
		METHODS.flatMap((method) => {
			const operation = toObject(item)[method];
			return isObject(operation) ? [toApiCall(method, path, operation, schemas)] : [];
		})
	);
	return {
		title: toText(toObject(info)['title']),
		version: toText(toObject(info)['version']),
		schemas,
		calls
	};
}

function toApiCall(method: string, path: string, operation: Schema, schemas: Schemas): ApiCall {
	const parameters = Array.isArray(operation['parameters']) ? operation['parameters'].map(toObject) : [];
	return {
		id: toText(operation['operationId']) || `${method}${path}`,
		method: method.toUpperCase(),
		path,
		tag: Array.isArray(operation['tags']) ? toText(operation['tags'][0]) || 'other' : 'other',
		summary: toText(operation['summary']),
		description: toText(operation['description']),
		parameters: parameters.map((parameter) => ({
			name: toText(parameter['name']),
			location: toText(parameter['in']),
			isRequired: parameter['required'] === true,
			about: toText(parameter['description']),
			schema: toObject(parameter['schema'])
		})),
		body: toBody(operation['requestBody'], schemas),
		answers: Object.entries(toObject(operation['responses'])).flatMap(([status, answer]) =>
			toAnswers(status, answer)
		)
	};
}

function toBody(body: unknown, schemas: Schemas): ApiCall['body'] {
	const content = toObject(toObject(toObject(body)['content'])['application/json']);
	if (!isObject(content['schema'])) return undefined;
	return {
		schema: content['schema'],
		sample: content['example'] ?? createSample(content['schema'], schemas)
	};
}

function toAnswers(status: string, answer: unknown): ApiCall['answers'] {
	const about = toText(toObject(answer)['description']);
	const contents = Object.entries(toObject(toObject(answer)['content']));
	return contents.length
		? contents.map(([type, content]) => ({
				status,
				about,
				type,
				schema: toObject(toObject(content)['schema'])
			}))
		: [{ status, about, type: '', schema: {} }];
}

/** What most come for comes first. */
const FIRST_TAGS = ['discovery', 'messages', 'assets', 'nodes', 'tasks', 'bounties', 'accounts'];
const rankTag = (tag: string) => (FIRST_TAGS.includes(tag) ? FIRST_TAGS.indexOf(tag) : FIRST_TAGS.length);

/** The calls that hold all words, by their tags. */
export function searchCalls(calls: ApiCall[], words: string): { tag: string; calls: ApiCall[] }[] {
	const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
	const groups = new Map<string, ApiCall[]>();
	for (const call of calls) {
		const names = call.parameters.map(({ name }) => name).join(' ');
		const searchText =
			`${call.method} ${call.path} ${call.tag} ${call.summary} ${call.description} ${names}`.toLowerCase();
		if (wanted.every((word) => searchText.includes(word)))
			groups.set(call.tag, [...(groups.get(call.tag) ?? []), call]);
	}
	return [...groups]
		.map(([tag, calls]) => ({ tag, calls }))
		.sort((a, b) => rankTag(a.tag) - rankTag(b.tag) || a.tag.localeCompare(b.tag));
}

/** The call as a command for a shell. */
export function formatCurl({ method, path, parameters, body }: ApiCall, origin: string): string {
	const query = parameters.filter(({ location, isRequired }) => location === 'query' && isRequired);
	const queryString = query.length ? `?${query.map(({ name }) => `${name}=…`).join('&')}` : '';
	const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} '${origin}${path}${queryString}'`];
	if (body) {
		const json = JSON.stringify(body.sample, null, 2).replaceAll("'", "'\\''");
		lines.push("-H 'content-type: application/json'", `-d '${json}'`);
	}
	return lines.join(' \\\n  ');
}
