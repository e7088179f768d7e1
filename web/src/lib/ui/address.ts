/** What a part of an address stands for; null where its escapes are none. */
export function decoded(part: string): string | null {
	try {
		return decodeURIComponent(part);
	} catch {
		return null;
	}
}
