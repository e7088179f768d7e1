/** Signals come as one text with commas. */
export function parseSignals(text: string): string[] {
	return [...new Set(text.split(',').map((signal) => signal.trim()))].filter(Boolean);
}
