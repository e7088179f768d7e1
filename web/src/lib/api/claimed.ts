/**
 * What a publisher wrote is not what the hub promises: a member that should be a text may be anything. These give what
 * can be shown, and nothing else.
 */
export function claimedText(value: unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}

export function claimedNumber(value: unknown): number | undefined {
	return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A member of an object, whatever both are. */
export function claimedMember(value: unknown, name: string): unknown {
	return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
		? (value as Record<string, unknown>)[name]
		: undefined;
}
