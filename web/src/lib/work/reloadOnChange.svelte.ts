import { live } from '$lib/api/live.svelte';
import { who } from '$lib/api/session.svelte';

interface Shown {
	load(): unknown;
	clear(): void;
}

/**
 * Loads what a page shows of one task or bounty: at once, and again when the hub's work or the session changes. Another
 * id begins empty. Call it while a component is made.
 */
export function follow(shown: Shown, id: () => string): void {
	$effect(() => {
		void id();
		shown.clear();
	});
	$effect(() => {
		void [live.changes, id(), who.session];
		void shown.load();
	});
}
