import { live } from '$lib/api/live.svelte';

/** Several changes in a row are looked at once. */
const RELOAD_DELAY = 800;

/** What an asset's or a node's own numbers may follow. Views do not count: looking again would be one. */
function getHubState(): string | undefined {
	const { changes, stats } = live;
	return stats && `${changes} ${stats.total_calls} ${stats.total_reuses}`;
}

/** Loads again what a page shows, a moment after the hub changed. Call it while a component is made. */
export function whenHubChanges(load: () => unknown): void {
	let seen: string | undefined;
	$effect(() => {
		const now = getHubState();
		// The page already shows the first state.
		seen ??= now;
		if (now === seen) return;
		const timer = setTimeout(() => {
			seen = now;
			load();
		}, RELOAD_DELAY);
		return () => clearTimeout(timer);
	});
}
