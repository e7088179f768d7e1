import { isObject } from '$lib/api/problem';

/** JSON Schema as rows of a table, and as a sample. */
export type Schema = Record<string, unknown>;
export type Schemas = Record<string, unknown>;

export interface SchemaRow {
	/** Where it is, such as `payload.assets[].type`. */
	path: string;
	type: string;
	isRequired: boolean;
	about: string;
}

const MAX_DEPTH = 4;

/** What a schema stands for: references followed, parts that all hold put together, "or null" left to the type's name. */
export function resolveSchema(schema: unknown, all: Schemas, depth = 0): Schema {
	if (!isObject(schema) || depth > 8) return {};
	const { $ref, ...rest } = schema;
	if (typeof $ref === 'string') return { ...resolveSchema(all[getRefName($ref)], all, depth + 1), ...rest };
	const choices = toSchemas(schema['oneOf'] ?? schema['anyOf']).filter((choice) => choice['type'] !== 'null');
	if (choices.length === 1) return resolveSchema(choices[0], all, depth + 1);
	const parts = toSchemas(schema['allOf']).map((part) => resolveSchema(part, all, depth + 1));
	return parts.length ? parts.reduce(mergeSchemas, schema) : schema;
}

/** Every member, and those of members, each a row. */
export function listSchemaRows(schema: unknown, all: Schemas, prefix = '', depth = 0): SchemaRow[] {
	const whole = resolveSchema(schema, all);
	if (depth >= MAX_DEPTH) return [];
	if (isObject(whole['items'])) return listSchemaRows(whole['items'], all, `${prefix}[]`, depth);
	const required = Array.isArray(whole['required']) ? whole['required'] : [];
	const members = isObject(whole['properties']) ? Object.entries(whole['properties']) : [];
	return members.flatMap(([name, member]) => {
		const path = prefix ? `${prefix}.${name}` : name;
		const row = {
			path,
			type: describeType(member, all),
			isRequired: required.includes(name),
			about: describeSchema(member, all)
		};
		return [row, ...listSchemaRows(member, all, path, depth + 1)];
	});
}

/** A type in words: `text or null`, `list of AssetRow`. */
export function describeType(schema: unknown, all: Schemas): string {
	if (!isObject(schema)) return 'anything';
	if (typeof schema['$ref'] === 'string') return describeRef(schema['$ref'], all);
	const choices = toSchemas(schema['oneOf'] ?? schema['anyOf']);
	if (choices.length) return [...new Set(choices.map((choice) => describeType(choice, all)))].join(' or ');
	if (Array.isArray(schema['enum'])) return schema['enum'].map((word) => JSON.stringify(word)).join(' or ');
	const types = [schema['type'] ?? (schema['properties'] ? 'object' : [])].flat();
	const words = types.map((type) =>
		type === 'array' && schema['items'] ? `list of ${describeType(schema['items'], all)}` : String(type)
	);
	return words.join(' or ') || 'anything';
}

/** A named type by its name, unless it is no object and the name would say less. */
function describeRef(ref: string, all: Schemas): string {
	const named = all[getRefName(ref)];
	const isPlain =
		isObject(named) &&
		(Array.isArray(named['enum']) || ['string', 'number', 'integer'].includes(String(named['type'])));
	return isPlain ? describeType(named, all) : getRefName(ref);
}

function describeSchema(schema: unknown, all: Schemas): string {
	const whole = resolveSchema(schema, all);
	const bounds = [
		['minimum', 'at least'],
		['maximum', 'at most'],
		['minLength', 'characters, at least'],
		['maxLength', 'characters, at most'],
		['maxItems', 'entries, at most'],
		['default', 'default']
	].flatMap(([key, words]) => (whole[key!] === undefined ? [] : `${words} ${String(whole[key!])}`));
	const text =
		typeof whole['description'] === 'string' ? whole['description'].replaceAll(/\s*\n\s*/g, ' ') : '';
	return [text, bounds.length ? `(${bounds.join(', ')})` : ''].filter(Boolean).join(' ');
}

/** Something that fits. */
export function createSample(schema: unknown, all: Schemas, depth = 0): unknown {
	const whole = resolveSchema(schema, all);
	if (whole['example'] !== undefined) return whole['example'];
	if (Array.isArray(whole['enum'])) return whole['enum'][0];
	const type = [whole['type']].flat().find((word) => word !== 'null');
	if (type === 'array') return depth > MAX_DEPTH ? [] : [createSample(whole['items'], all, depth + 1)];
	if (isObject(whole['properties']) && depth <= MAX_DEPTH)
		return Object.fromEntries(
			Object.entries(whole['properties']).map(([name, member]) => [
				name,
				createSample(member, all, depth + 1)
			])
		);
	const simple: Record<string, unknown> = {
		string: 'text',
		integer: 1,
		number: 1.5,
		boolean: true,
		object: {}
	};
	return simple[String(type)] ?? null;
}

function getRefName(ref: string): string {
	return ref.split('/').at(-1) ?? ref;
}

function toSchemas(value: unknown): Schema[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

function mergeSchemas(one: Schema, other: Schema): Schema {
	const members = (schema: Schema) => (isObject(schema['properties']) ? schema['properties'] : {});
	const needed = (schema: Schema) => (Array.isArray(schema['required']) ? schema['required'] : []);
	return {
		...other,
		...one,
		properties: { ...members(one), ...members(other) },
		required: [...needed(one), ...needed(other)]
	};
}
