import { live } from '$lib/api/live.svelte';
import { auth } from '$lib/api/session.svelte';

interface Reloadable {
	load(): unknown;
	clear(): void;
}

/**
 * Loads what a page shows of one task or bounty: at once, and again when the hub's work or the session changes. Another
 * id begins empty. Call it while a component is made.
 */
export function reloadOnChange(resource: Reloadable, id: () => string): void {
	$effect(() => {
		void id();
		resource.clear();
	});
	$effect(() => {
		void [live.changes, id(), auth.session];
		void resource.load();
	});
}
