/** What a part of an address stands for; null where its escapes are none. */
export function decodeOrNull(part: string): string | null {
	try {
		return decodeURIComponent(part);
	} catch {
		return null;
	}
}
