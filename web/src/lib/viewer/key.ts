/**
 * The key of the local viewer. The program prints an address with the key after `#`, so that it is in no request and no log; the
 * page takes it out of the address at once, so that it is in no bookmark and no screenshot either.
 */
const STORAGE_KEY = 'capsid.desk.key';

/** Takes `key=…` out of an address. Whatever else follows the `#` stays. */
export function splitKey(address: string): { key: string | null; address: string } {
	const [before, fragment] = splitOnce(address, '#');
	const parts = (fragment ?? '').split('&').filter((part) => part !== '');
	const encodedKey = parts.find((part) => part.startsWith('key='))?.slice(4) ?? '';
	const rest = parts.filter((part) => !part.startsWith('key=')).join('&');
	return { key: decodeOrKeep(encodedKey) || null, address: rest ? `${before}#${rest}` : before };
}

/** The key of this visit: from the address the first time, from the tab's memory after that. */
export function loadViewerKey(): string | null {
	const { key, address } = splitKey(location.href);
	if (key === null) return sessionStorage.getItem(STORAGE_KEY);
	sessionStorage.setItem(STORAGE_KEY, key);
	history.replaceState(history.state, '', address);
	return key;
}

function splitOnce(text: string, mark: string): [string, string | undefined] {
	const at = text.indexOf(mark);
	return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function decodeOrKeep(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
