/** As much of a text as fits. */
export function truncateToWidth(text: string, room: number, width: (text: string) => number): string {
	if (width(text) <= room) return text;
	let length = Math.min(text.length, 80);
	while (length > 1 && width(`${text.slice(0, length)}…`) > room) length -= 1;
	return `${text.slice(0, length).trimEnd()}…`;
}
