/** Signals come as one text with commas. */
export function signalsOf(text: string): string[] {
	return [...new Set(text.split(',').map((signal) => signal.trim()))].filter(Boolean);
}
