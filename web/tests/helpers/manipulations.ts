import { readFileSync } from 'node:fs';
import type { ReaderRequest } from '$lib/explorer/types';

type Value = unknown;
type Edit = {
	file: string;
	remove?: true;
	text?: string;
	copy?: string;
	at?: (string | number)[];
	order?: number[];
	value?: Value;
};
/** Level, exit status, and code, chain and position of the first finding. */
export type ExpectedVerdict = [string, number, string | null, string | null, number | null];

export interface Manipulation {
	name: string;
	edits: Edit[];
	meta_head: string | null;
	expected: Record<Policy, ExpectedVerdict>;
}
export type Policy = 'default' | 'any' | 'pinned' | 'own';

interface Table {
	files: Record<string, Value>;
	policies: Record<Policy, { require?: ReaderRequest['require']; pinned?: string[]; own?: string[] }>;
	cases: Manipulation[];
}

/** Every way in which a bundle is changed, and what each reader must be told. The program's tests write it. */
export const table = JSON.parse(readFileSync('tests/vectors/manipulations.json', 'utf8')) as Table;

/** The files of the base after the edits of a case. */
export function applyEdits(edits: Edit[]): Record<string, string> {
	const files = structuredClone(table.files);
	const texts: Record<string, string> = {};
	for (const edit of edits) {
		const { file, at = [] } = edit;
		if (edit.remove) delete files[file];
		else if (edit.text !== undefined) texts[file] = edit.text;
		else if (edit.copy !== undefined) files[file] = structuredClone(table.files[edit.copy]);
		else {
			const member = (value: Value, name: string | number) => (value as Record<string | number, Value>)[name];
			const parent = at.slice(0, -1).reduce(member, files[file]) as Record<string | number, Value>;
			const last = at.at(-1) ?? '';
			const list = parent[last] as Value[];
			if (edit.order) parent[last] = edit.order.map((from) => structuredClone(list[from]));
			else if ('value' in edit) parent[last] = edit.value;
			else delete parent[last];
		}
	}
	const written = Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]);
	return { ...(Object.fromEntries(written) as Record<string, string>), ...texts };
}

/** What a reader with this policy asks for. */
export function toRequest(policy: Policy, metaHead: string | null): ReaderRequest {
	const { require, own } = table.policies[policy];
	const [count, hash] = metaHead?.split(':') ?? [];
	return {
		...(require ? { require } : {}),
		...(own ? { own } : {}),
		...(hash === undefined ? {} : { metaHeads: [[Number(count), hash]] as [number, string][] })
	};
}
