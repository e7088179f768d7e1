import { createSubscriber } from 'svelte/reactivity';

let turns = 0;
const subscribe = createSubscriber((update) => {
	const turn = () => {
		turns += 1;
		update();
	};
	const dark = matchMedia('(prefers-color-scheme: dark)');
	window.addEventListener('capsid-theme', turn);
	dark.addEventListener('change', turn);
	return () => {
		window.removeEventListener('capsid-theme', turn);
		dark.removeEventListener('change', turn);
	};
});

/** How often the colours changed. An effect that reads it paints again, by the reader's choice or the system's. */
export function countThemeChanges(): number {
	subscribe();
	return turns;
}
