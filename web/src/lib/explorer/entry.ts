import { parse, Float, Int, TooDeep, type Json } from './exactJson';

/** The content as plain data. Integers that a double cannot hold are given as their digits. */
export function parseSections(canonical: string): Record<string, unknown> | null {
	try {
		const content = parse(canonical);
		return content instanceof Map ? (toPlainData(content) as Record<string, unknown>) : null;
	} catch {
		return null;
	}
}

export function isTooDeep(canonical: string): boolean {
	try {
		parse(canonical);
		return false;
	} catch (problem) {
		return problem instanceof TooDeep;
	}
}

function toPlainData(value: Json): unknown {
	if (value instanceof Int)
		return Number.isSafeInteger(Number(value.digits)) ? Number(value.digits) : value.digits;
	if (value instanceof Float) return Number.isFinite(value.value) ? value.value : String(value.value);
	if (Array.isArray(value)) return value.map(toPlainData);
	if (value instanceof Map)
		return Object.fromEntries([...value].map(([name, item]) => [name, toPlainData(item)]));
	return value;
}
