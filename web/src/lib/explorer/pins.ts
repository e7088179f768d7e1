import type { Bundle, SignerKey } from './types';

/** The keys that the reader learned on another way than the data, kept in this browser. */
const STORAGE_KEY = 'capsid.explorer.pinned';

/** A public key (64 hex digits) or its fingerprint (the first 16), as people paste it. Null: neither. */
export function parseKey(pasted: string): string | null {
	const hex = pasted.replace(/[\s:]/g, '').toLowerCase();
	return /^([0-9a-f]{64}|[0-9a-f]{16})$/.test(hex) ? hex : null;
}

/** Whether a key is pinned, whole or by its fingerprint. */
export function isPinned(hex: string, pins: string[]): boolean {
	return pins.some((pin) => hex.startsWith(pin));
}

/** The keys that are named, then those that signed without anybody naming them. */
export function listSigners(bundle: Bundle | null): SignerKey[] {
	const keys = bundle?.keys ?? [];
	const named = new Set(keys.flatMap(({ fingerprint, hex }) => [fingerprint, hex]));
	const strangers = new Set(
		bundle?.chains.flatMap(({ signers }) => signers).filter((name) => !isNamed(name, named))
	);
	return [
		...keys,
		...[...strangers].map((fingerprint): SignerKey => ({ fingerprint, hex: '', trust: 'unknown' }))
	];
}

/** By fingerprint or by the whole key. An older form of the fingerprint is `qp_key_` and the first four digits. */
function isNamed(name: string, named: Set<string>): boolean {
	return (
		named.has(name) || (name.startsWith('qp_key_') && [...named].some((one) => one.startsWith(name.slice(7))))
	);
}

export function loadPins(): string[] {
	try {
		const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]');
		return Array.isArray(stored)
			? stored.filter((one) => typeof one === 'string' && parseKey(one) === one)
			: [];
	} catch {
		return [];
	}
}

export function savePins(pins: string[]): void {
	try {
		localStorage.setItem(STORAGE_KEY, JSON.stringify(pins));
	} catch {
		// Without storage a pin holds as long as the page does.
	}
}
